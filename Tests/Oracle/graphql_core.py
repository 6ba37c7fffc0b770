"""Answers with what graphql-core, the Python twin of graphql-js, makes of each request.

One JSON object per line in, one per line out, in order:
  {"op": "parse", "source": TEXT} -> {"printed": TEXT} or {"message": TEXT, "line": N, "column": N}
"""

import json
import sys

from graphql import GraphQLSyntaxError, parse, print_ast


def answer(request):
    try:
        document = parse(request["source"])
    except GraphQLSyntaxError as error:
        location = error.locations[0]
        return {"message": error.message, "line": location.line, "column": location.column}
    return {"printed": print_ast(document)}


sys.setrecursionlimit(20_000)
for line in sys.stdin.buffer:
    try:
        result = answer(json.loads(line))
    except Exception as error:  # pylint: disable=broad-except
        result = {"failure": f"{type(error).__name__}: {error}"}
    sys.stdout.buffer.write(json.dumps(result, ensure_ascii=True).encode("ascii") + b"\n")
sys.stdout.buffer.flush()
