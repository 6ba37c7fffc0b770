"""Answers with what graphql-core, the Python twin of graphql-js, makes of each request.

One JSON object per line in, one per line out, in order:
  {"op": "parse", "source": TEXT} -> {"printed": TEXT} or {"message": TEXT, "line": N, "column": N}
  {"op": "schema", "schema": SDL} -> {"printed": SDL} or {"errors": [E, ...]}, or {"refused": TEXT}
    where it gives up before it has looked at everything; E is {"message", "locations": [[N, N]]}
  {"op": "validate", "schema": SDL, "document": TEXT} -> {"errors": [E, ...]}
  {"op": "execute", ..., "root": JSON, "variables": {...}}
    -> {"errors": [E, ...], "data": ...}, without data if it never came to execution
  {"op": "client", "introspection": DATA, "schema": SDL} -> {"fromIntrospection": SDL, "fromText": SDL},
    both sorted by name
  {"op": "changes", "old": SDL, "new": SDL} -> {"breaking": [[TYPE, TEXT], ...], "dangerous": [...]}, each sorted
"""

import json
import sys

from graphql import (
    GraphQLSyntaxError,
    build_ast_schema,
    build_client_schema,
    build_schema,
    execute_sync,
    find_breaking_changes,
    find_dangerous_changes,
    lexicographic_sort_schema,
    parse,
    print_ast,
    print_schema,
    validate,
    validate_schema,
)
from graphql.validation.validate import validate_sdl


def answer_parse(source):
    try:
        document = parse(source)
    except GraphQLSyntaxError as error:
        location = error.locations[0]
        return {"message": error.message, "line": location.line, "column": location.column}
    return {"printed": print_ast(document)}


def answer_schema(source):
    document = parse(source)
    errors = validate_sdl(document)
    if not errors:
        try:
            schema = build_ast_schema(document, assume_valid_sdl=True)
            errors = validate_schema(schema)
        except Exception as error:  # pylint: disable=broad-except
            return {"refused": str(error)[:1000]}
        if not errors:
            return {"printed": print_schema(schema)}
    return {"errors": [finding(error) for error in errors]}


def answer_client(introspection, source):
    schemas = build_client_schema(introspection), build_schema(source)
    texts = [print_schema(lexicographic_sort_schema(schema)) for schema in schemas]
    return {"fromIntrospection": texts[0], "fromText": texts[1]}


def answer_changes(old, new):
    schemas = build_schema(old), build_schema(new)

    def listed(changes):
        return sorted([change.type.name, change.description] for change in changes)

    return {
        "breaking": listed(find_breaking_changes(*schemas)),
        "dangerous": listed(find_dangerous_changes(*schemas)),
    }


def finding(error):
    locations = [[place.line, place.column] for place in error.locations or []]
    message = error.message
    # It writes locations of directives in its own way, one of them wrongly for extensions.
    if " may not be used on " in message:
        head, _, tail = message.rpartition(" on ")
        message = f"{head} on {tail.replace(' ', '_').upper()}"
    return {"message": message, "locations": locations}


schemas = {}


def answer_document(request):
    text = request["schema"]
    if text not in schemas:
        schemas[text] = build_schema(text)
    try:
        document = parse(request["document"])
        errors = validate(schemas[text], document)
    except GraphQLSyntaxError as error:
        errors = [error]
    if errors or request["op"] == "validate":
        return {"errors": [finding(error) for error in errors]}
    result = execute_sync(
        schemas[text],
        document,
        request["root"],
        variable_values=request["variables"],
        field_resolver=lambda source, info, **_: source.get(info.field_name)
        if isinstance(source, dict)
        else None,
        type_resolver=lambda value, *_: value.get("__typename")
        if isinstance(value, dict)
        else None,
    )
    return {"errors": [finding(error) for error in result.errors or []], "data": result.data}


def answer(request):
    if request["op"] in ("validate", "execute"):
        return answer_document(request)
    if request["op"] == "schema":
        return answer_schema(request["schema"])
    if request["op"] == "client":
        return answer_client(request["introspection"], request["schema"])
    if request["op"] == "changes":
        return answer_changes(request["old"], request["new"])
    return answer_parse(request["source"])


sys.setrecursionlimit(20_000)
for line in sys.stdin.buffer:
    try:
        result = answer(json.loads(line))
    except Exception as error:  # pylint: disable=broad-except
        result = {"failure": f"{type(error).__name__}: {error}"}
    sys.stdout.buffer.write(json.dumps(result, ensure_ascii=True).encode("ascii") + b"\n")
sys.stdout.buffer.flush()
