// GraphQLTransport
