// GraphQLChecking
