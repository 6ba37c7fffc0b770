// GraphQLExecution
