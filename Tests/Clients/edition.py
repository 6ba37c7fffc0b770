"""Reads a file with a list of type systems, and prints what graphql-core prints of each; null where it is not valid."""
import json
import sys

from graphql import GraphQLError, build_schema, print_schema, validate_schema


def answer(text):
    try:
        schema = build_schema(text)
    except (GraphQLError, TypeError):
        return None
    return None if validate_schema(schema) else print_schema(schema)


print(json.dumps([answer(text) for text in json.load(open(sys.argv[1]))]))
