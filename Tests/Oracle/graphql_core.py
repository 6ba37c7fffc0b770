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
  {"op": "coordinates", "schema": SDL, "document": TEXT}
    -> {"coordinates": [[COORDINATE, ...], ...]}, what each operation names, sorted
  {"op": "changes", "old": SDL, "new": SDL} -> {"breaking": [[TYPE, TEXT], ...], "dangerous": [...]}, each sorted
"""

import json
import re
import sys

from graphql import (
    GraphQLSyntaxError,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    build_ast_schema,
    build_client_schema,
    build_schema,
    execute_sync,
    find_breaking_changes,
    find_dangerous_changes,
    get_named_type,
    is_enum_type,
    is_input_object_type,
    is_specified_scalar_type,
    lexicographic_sort_schema,
    parse,
    print_ast,
    print_schema,
    validate,
    validate_schema,
    visit,
)
from graphql.utilities import ast_from_value, value_from_ast
from graphql.validation.validate import validate_sdl

# Differences between 3.3 and 3.2 that say nothing about what is valid. The server has the words and the layout of
# graphql-js 16, with which its answers are compared to the letter.

# 3.3 writes spaces inside the braces of an object, and long lists and objects on several lines.
reducers = sys.modules["graphql.language.printer"].print_doc_ast_reducer
join = sys.modules["graphql.language.printer"].join
reducers["object_value"] = lambda node: join(("{", join(node.fields, ", "), "}"))
reducers["list_value"] = lambda node: join(("[", join(node.values, ", "), "]"))


# 3.3 prints a default as the schema has it, not the value that it stands for.
def default_value(argument):
    default = argument.default
    if default is None or default.literal is None:
        return None
    return ast_from_value(value_from_ast(default.literal, argument.type), argument.type)


sys.modules["graphql.utilities.print_schema"].get_default_value_ast = default_value

# 3.3 judges a copy of a literal without its variables, which has no place in the document.
for module in ("validate_input_value", "coerce_input_value"):
    sys.modules[f"graphql.utilities.{module}"].replace_variables = lambda literal, *_: literal

# 3.3 names fields and arguments by their coordinates.
WORDS = [
    (r"Expected value of non-null type (.+) not to be None\.", r"Expected value of type \1, found null."),
    (r"Expected value of type (.+) to be an object, found: (.*)\.", r"Expected value of type \1, found \2."),
    (
        r"Expected value of type '(\w+)' not to include unknown field '(\w+)'(\..*) Found: .*",
        r"Field '\2' is not defined by type '\1'\3",
    ),
    (
        r"Expected value of type '(\w+)' not to include unknown field '(\w+)', found: .*",
        r"Field '\2' is not defined by type '\1'.",
    ),
    (r"Input Object (\w+) cannot be provided a finite value.*", r"Input Object '\1' has no finite value."),
    (r"Within OneOf Input Object type '(\w+)', .*", r"OneOf Input Object '\1' must specify exactly one key."),
    (r"Expected value of type (.+), found: (.*)\.", r"Expected value of type \1, found \2."),
    (r"Argument '@(\w+)\((\w+):\)' of type", r"Directive '@\1' argument '\2' of type"),
    (r"Argument '\w+\.(\w+)\((\w+):\)' of type", r"Field '\1' argument '\2' of type"),
    (
        r"Argument '([\w.]+)\((\w+):\)' must not be required type '.*' if not provided by the Interface field '(.*)'\.",
        r"Object field \1 includes required argument \2 that is missing from the Interface field \3.",
    ),
    (r"^Field ([\w.]+) (was removed|was added|changed type)", r"\1 \2"),
    (r"^(An?) (required|optional) field (\w+)\.(\w+) was added", r"\1 \2 field \4 on input type \3 was added"),
    (r"^Enum value (\w+)\.(\w+) was removed\.", r"\2 was removed from enum type \1."),
    (r"^Enum value (\w+)\.(\w+) was added\.", r"\2 was added to enum type \1."),
    (r"^Argument @(\w+)\((\w+):\) was removed", r"\2 was removed from \1"),
    (r"^Argument ([\w.]+)\((\w+):\) was removed", r"\1 arg \2 was removed"),
    (r"^Argument (@?[\w.]+)\((\w+):\) has changed", r"\1 arg \2 has changed"),
    (r"^Directive @(\w+) was", r"\1 was"),
    (r"^An? (required|optional) argument @(\w+)\((\w+):\) was added", r"A \1 arg \3 on directive \2 was added"),
    (r"^(An?) (required|optional) argument ([\w.]+)\((\w+):\) was added", r"\1 \2 arg \4 on \3 was added"),
    (r"^([A-Z_]+) was removed from @", r"\1 was removed from "),
    (r"^Repeatable flag was (.*) @", r"Repeatable flag was \1 "),
    (r"^(@?[\w.]+)\((\w+):\) (defaultValue|has changed defaultValue)", r"\1 arg \2 \3"),
]


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
            return {"printed": print_schema(without_empty_descriptions(schema))}
    return {"errors": [finding(error) for error in errors]}


def answer_client(introspection, source):
    schemas = build_client_schema(introspection), build_schema(source)
    texts = [print_schema(lexicographic_sort_schema(schema)) for schema in schemas]
    return {"fromIntrospection": texts[0], "fromText": texts[1]}


def answer_changes(old, new):
    schemas = build_schema(old), build_schema(new)

    def listed(changes):
        return sorted([change.type.name, in_older_words(change.description)] for change in changes)

    return {
        "breaking": listed(find_breaking_changes(*schemas)),
        "dangerous": listed(find_dangerous_changes(*schemas)),
    }


class Uses(Visitor):
    """Collects what a part of a document names."""

    def __init__(self, schema, info):
        super().__init__()
        self.schema, self.info = schema, info
        self.found, self.spreads = set(), []

    def named_type(self, name):
        known = self.schema.get_type(name)
        if not is_specified_scalar_type(known) and not name.startswith("__"):
            self.found.add(name)

    def enter_field(self, node, *_):
        parent = self.info.get_parent_type().name
        if not node.name.value.startswith("__") and not parent.startswith("__"):
            self.found.add(f"{parent}.{node.name.value}")

    def enter_argument(self, node, *_):
        directive, name = self.info.get_directive(), node.name.value
        if directive:
            self.found.add(f"@{directive.name}({name}:)")
            return
        field, parent = self.info.get_field_def(), self.info.get_parent_type().name
        for known, definition in self.info.get_parent_type().fields.items():
            if definition is field and not parent.startswith("__"):
                self.found.add(f"{parent}.{known}({name}:)")

    def enter_object_field(self, node, *_):
        parent = get_named_type(self.info.get_parent_input_type())
        if is_input_object_type(parent):
            self.found.add(f"{parent.name}.{node.name.value}")

    def enter_enum_value(self, node, *_):
        known = get_named_type(self.info.get_input_type())
        if is_enum_type(known):
            self.found.add(f"{known.name}.{node.value}")

    def enter_directive(self, node, *_):
        self.found.add(f"@{node.name.value}")

    def enter_variable_definition(self, node, *_):
        inner = node.type
        while not hasattr(inner, "name"):
            inner = inner.type
        self.named_type(inner.name.value)

    def enter_inline_fragment(self, node, *_):
        if node.type_condition:
            self.named_type(node.type_condition.name.value)

    def enter_fragment_definition(self, node, *_):
        self.named_type(node.type_condition.name.value)

    def enter_fragment_spread(self, node, *_):
        self.spreads.append(node.name.value)


def answer_coordinates(text, source):
    if text not in schemas:
        schemas[text] = build_schema(text)
    document = parse(source)
    fragments = {d.name.value: d for d in document.definitions if d.kind == "fragment_definition"}
    answers = []
    for operation in document.definitions:
        if operation.kind != "operation_definition":
            continue
        found, seen, pending = set(), set(), [operation]
        while pending:
            info = TypeInfo(schemas[text])
            uses = Uses(schemas[text], info)
            visit(pending.pop(), TypeInfoVisitor(info, uses))
            found |= uses.found
            pending += [fragments[name] for name in uses.spreads if name not in seen]
            seen |= set(uses.spreads)
        answers.append(sorted(found))
    return {"coordinates": answers}


def in_older_words(message):
    for pattern, words in WORDS:
        message = re.sub(pattern, words, message)
    return message


def without_empty_descriptions(schema):
    """3.3 prints the empty descriptions of arguments without any other; 3.2 does not."""
    fields = [f for kind in schema.type_map.values() for f in (getattr(kind, "fields", None) or {}).values()]
    for owner in [*fields, *schema.directives]:
        arguments = (getattr(owner, "args", None) or {}).values()
        if not any(argument.description for argument in arguments):
            for argument in arguments:
                argument.description = None
    return schema


def finding(error, schema=None):
    locations = [[place.line, place.column] for place in error.locations or []]
    message = in_older_words(error.message)
    # It shows the object where 3.2 has the type of the field.
    missing = re.match(r"Expected value of type '(\w+)' to include required field '(\w+)'", message)
    if missing and schema:
        kind, field = missing.groups()
        message = f"Field '{kind}.{field}' of required type '{schema.type_map[kind].fields[field].type}' was not provided."
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
        return {"errors": [finding(error, schemas[text]) for error in errors]}
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
    if request["op"] == "coordinates":
        return answer_coordinates(request["schema"], request["document"])
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
