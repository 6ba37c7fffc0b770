// GraphQLPlanning
