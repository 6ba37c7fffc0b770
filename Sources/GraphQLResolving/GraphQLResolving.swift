// GraphQLResolving
