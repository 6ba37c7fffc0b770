"""Composes the graphs of several servers to one, and asks it a query: composer.py QUERY URL [URL...].

It reads `_service { sdl }` of each as Apollo Federation 2 has it: types with @key are one type of several graphs, a
field that several graphs have must be @shareable, external or a part of a key, and what is @inaccessible is not in the
composed schema. A query is divided among the graphs that have its fields; what another graph has of an object is asked
for by `_entities`, with the representations of all objects at once. Prints the answer as JSON, or {"composition": [...]}
with what does not fit. There is as much of a gateway here as the tests need.
"""
import json
import sys
import urllib.request

from graphql import REMOVE, Visitor, build_schema, parse, print_ast, visit


def ask(url, query, variables=None):
    body = json.dumps({"query": query, "variables": variables or {}}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def marks(node):
    return {directive.name.value for directive in node.directives or ()}


class Graph:
    def __init__(self, url):
        self.url = url
        document = parse(ask(url, "{ _service { sdl } }")["data"]["_service"]["sdl"])
        links = [node for node in document.definitions if node.kind == "schema_extension"]
        assert any(d.name.value == "link" for node in links for d in node.directives or ()), "no @link"
        self.types = {
            node.name.value: node for node in document.definitions
            if node.kind in ("object_type_definition", "interface_type_definition")}
        self.document = document
        self.asked = []

    def keys(self, name):
        """The keys by which this graph finds objects of a type."""
        found = []
        for directive in self.types[name].directives or ():
            if directive.name.value == "key":
                given = {argument.name.value: argument.value.value for argument in directive.arguments}
                if given.get("resolvable", True):
                    found.append(given["fields"].split())
        return found

    def field(self, name, field):
        for node in (self.types[name].fields or ()) if name in self.types else ():
            if node.name.value == field:
                return node
        return None

    def resolves(self, name, field):
        node = self.field(name, field)
        return node is not None and "external" not in marks(node)


class Gateway:
    def __init__(self, urls):
        self.graphs = [Graph(url) for url in urls]
        self.problems = []
        fields = {}
        for graph in self.graphs:
            for name, node in graph.types.items():
                if node.kind == "object_type_definition":
                    for field in node.fields or ():
                        fields.setdefault((name, field.name.value), []).append((graph, node, field))
        for (name, field), owners in sorted(fields.items(), key=lambda item: item[0]):
            parts = {part for graph, _, _ in owners for key in graph.keys(name) for part in key}
            own = [(node, definition) for _, node, definition in owners if "external" not in marks(definition)]
            alone = [pair for pair in own if not any("shareable" in marks(part) for part in pair)]
            if len(own) > 1 and alone and field not in parts:
                self.problems.append(f"{name}.{field} is in several graphs, and not shareable")
        self.types = {}
        for (name, field), owners in fields.items():
            self.types.setdefault(name, {})[field] = owners

    def type_of(self, name, field):
        node = self.types[name][field][0][2].type
        while node.kind != "named_type":
            node = node.type
        return node.name.value

    def hides(self, name, field):
        return any("inaccessible" in marks(node) | marks(field) for _, node, field in self.types[name][field])

    def run(self, query):
        operation = parse(query).definitions[0]
        groups = {}
        for field in operation.selection_set.selections:
            if self.hides("Query", field.name.value):
                raise SystemExit(f"Query.{field.name.value} is inaccessible")
            groups.setdefault(self.types["Query"][field.name.value][0][0], []).append(field)
        data = {}
        for graph, chosen in groups.items():
            text, later = self.plan(graph, "Query", chosen)
            graph.asked.append(text)
            answer = ask(graph.url, text)
            assert "errors" not in answer, answer
            data.update(answer["data"])
            self.complete(data, later)
        self.strip(data)
        return data

    def plan(self, graph, name, chosen):
        """The part of a selection that a graph has, as text, and by path what others have."""
        later = []
        return self.text(graph, name, chosen, (), later), later

    def text(self, graph, name, chosen, path, later):
        parts, others = [], {}
        for field in chosen:
            if field.name.value == "__typename" or graph.resolves(name, field.name.value):
                inner = ""
                alias = field.alias.value if field.alias else field.name.value
                if field.selection_set:
                    target = self.type_of(name, field.name.value)
                    inner = self.text(graph, target, field.selection_set.selections, path + (alias,), later)
                given = ", ".join(print_ast(argument) for argument in field.arguments or ())
                shown = f"{alias}: {field.name.value}" if field.alias else alias
                parts.append(f"{shown}({given}) {inner}" if given else f"{shown} {inner}")
            else:
                owner = next(g for g, _, _ in self.types[name][field.name.value] if g.resolves(name, field.name.value))
                others.setdefault(owner, []).append(field)
        for owner, fields in others.items():
            key = next(
                key for key in owner.keys(name) if all(graph.field(name, part) is not None for part in key))
            parts += ["_t: __typename"] + [f"_k_{part}: {part}" for part in key]
            later.append((path, owner, name, key, fields))
        return "{ " + " ".join(dict.fromkeys(parts)) + " }"

    def complete(self, data, later):
        for path, owner, name, key, fields in later:
            objects = list(self.at(data, path))
            if not objects:
                continue
            inner = []
            selection = self.text(owner, name, fields, (), inner)
            text = (f"query($r: [_Any!]!) {{ _entities(representations: $r) {{ ... on {name} {selection} }} }}")
            representations = [
                {"__typename": name, **{part: item["_k_" + part] for part in key}} for item in objects]
            owner.asked.append(text)
            answer = ask(owner.url, text, {"r": representations})
            assert "errors" not in answer, answer
            for item, found in zip(objects, answer["data"]["_entities"], strict=True):
                names = [field.alias.value if field.alias else field.name.value for field in fields]
                item.update(found if found is not None else dict.fromkeys(names))
            for item in objects:
                self.complete(item, inner)

    def at(self, value, path):
        if value is None:
            return
        if isinstance(value, list):
            for item in value:
                yield from self.at(item, path)
        elif not path:
            yield value
        else:
            yield from self.at(value.get(path[0]), path[1:])

    def strip(self, value):
        if isinstance(value, list):
            for item in value:
                self.strip(item)
        elif isinstance(value, dict):
            for name in [name for name in value if name == "_t" or name.startswith("_k_")]:
                del value[name]
            for item in value.values():
                self.strip(item)


class Unmarked(Visitor):
    """Leaves only what graphql-core knows, to see that the rest is a schema."""

    def enter_directive(self, node, *_):
        known = ("key", "shareable", "inaccessible", "external", "provides", "override", "link")
        return REMOVE if node.name.value in known else None

    def enter_schema_extension(self, *_):
        return REMOVE


gateway = Gateway(sys.argv[2:])
for part in gateway.graphs:
    build_schema(print_ast(visit(part.document, Unmarked())))
if gateway.problems:
    print(json.dumps({"composition": gateway.problems}))
else:
    result = gateway.run(sys.argv[1])
    print(json.dumps({"data": result, "requests": [len(part.asked) for part in gateway.graphs]}))
