"""Asks for answers in parts, in both formats, and holds them against graphql-core and against the whole answer:
URL, token, the schema's file, and a file of variables and documents. Prints what differs."""
import asyncio
import json
import random
import sys

import httpx
from graphql import (
    FieldNode,
    NameNode,
    SelectionSetNode,
    Visitor,
    build_schema,
    parse,
    print_ast,
    visit,
)
from graphql.execution import experimental_execute_incrementally

url, token, schema_file, case_file = sys.argv[1:5]
schema = build_schema(open(schema_file).read())
cases = json.load(open(case_file))
headers = {"authorization": "Bearer " + token} if token else {}
client = httpx.Client(timeout=60)
KIND = "__typename"


def send(document, variables, accept):
    response = client.post(
        url, json={"query": document, "variables": variables}, headers={**headers, "accept": accept}
    )
    assert response.status_code == 200, response.text
    kind = response.headers["content-type"]
    if not kind.startswith("multipart/mixed"):
        return None, [response.json()]
    parts = response.text.split("\r\n--graphql")
    assert parts[0] == "" and parts[-1] == "--\r\n", response.text
    payloads = []
    for part in parts[1:-1]:
        head, body = part.split("\r\n\r\n")
        assert head == "\r\ncontent-type: application/json", part
        payloads.append(json.loads(body))
    return kind, payloads


class AddKinds(Visitor):
    def leave_selection_set(self, node, *_):
        kind = FieldNode(name=NameNode(value=KIND))
        return SelectionSetNode(selections=(*node.selections, kind))


def without_kinds(value):
    if isinstance(value, dict):
        return {k: without_kinds(v) for k, v in value.items() if k != KIND}
    return [without_kinds(v) for v in value] if isinstance(value, list) else value


def text(value):
    return json.dumps(value, sort_keys=True)


def merge(target, data):
    for key, value in data.items():
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            merge(target[key], value)
        elif isinstance(value, list) and isinstance(target.get(key), list):
            # Of the later items of a streamed list some may be there already.
            assert len(value) <= len(target[key])
            for index, item in enumerate(value):
                if isinstance(item, dict) and isinstance(target[key][index], dict):
                    merge(target[key][index], item)
        else:
            target[key] = value


def at(data, path):
    for step in path:
        data = data[step]
    return data


def summary(payloads):
    """What is delivered, whatever the order: (first data, entries, pending, completed, the whole)."""
    whole = json.loads(json.dumps(payloads[0]["data"]))
    pending, entries, completed, open_ids, streamed = [], [], [], {}, set()
    for number, payload in enumerate(payloads):
        assert payload["hasNext"] == (number < len(payloads) - 1), payload
        assert number == 0 or not {"data", "errors"} & payload.keys(), payload
        for entry in payload.get("pending", []):
            assert entry["id"] not in open_ids
            open_ids[entry["id"]] = entry
            pending.append(entry)
        for entry in payload.get("incremental", []):
            path = open_ids[entry["id"]]["path"] + entry.get("subPath", [])
            if "items" in entry:
                streamed.add(entry["id"])
                # In how many entries they come is chance.
                for item in entry["items"]:
                    at(whole, path).append(json.loads(json.dumps(item)))
                    entries.append(text([path, item]))
                continue
            merge(at(whole, path), entry["data"])
            entries.append(text([path, entry["data"]]))
        for entry in payload.get("completed", []):
            done = open_ids.pop(entry["id"])
            completed.append({**done, "failed": "errors" in entry})
    assert not open_ids, open_ids

    def told(found):
        """graphql-core does not look whether a list has more, and may announce what then has no items."""
        return sorted(
            text([entry["path"], entry.get("label"), entry.get("failed")])
            for entry in found
            if entry["id"] in streamed or not isinstance(at(whole, entry["path"]), list)
        )

    return text(payloads[0]["data"]), sorted(entries), told(pending), told(completed), whole


async def oracle(document, variables, source):
    def resolve(parent, info, **_):
        return parent[info.path.key]

    result = experimental_execute_incrementally(
        schema,
        parse(document),
        root_value=source,
        variable_values=variables,
        field_resolver=resolve,
        type_resolver=lambda value, *_: value[KIND],
    )
    if hasattr(result, "__await__"):
        result = await result
    if not hasattr(result, "initial_result"):
        assert not result.errors, result.errors
        return None
    payloads = [result.initial_result.formatted]
    async for payload in result.subsequent_results:
        payloads.append(payload.formatted)
    return payloads if any("incremental" in payload for payload in payloads) else None


def is_large(document):
    """May have more parts than are worth it: of a list in a list there are those of its first items and of its others."""
    return document.count("@defer") + 2 * document.count("@stream") > 8


def check(document, variables, is_made_up):
    kind, [whole] = send(document, variables, "application/json")
    assert kind is None and "errors" not in whole, whole
    _, [source] = send(print_ast(visit(parse(document), AddKinds())), variables, "application/json")
    assert "errors" not in source, source
    assert without_kinds(source["data"]) == without_kinds(whole["data"]), "the kinds change the answer"
    expected = asyncio.run(oracle(document, variables, source["data"]))
    kind, payloads = send(document, variables, "multipart/mixed;incrementalSpec=v0.2,application/json")
    if expected is None:
        assert kind is None and payloads == [whole], payloads
    elif kind is None and is_large(document):
        # More parts than are worth it.
        assert payloads == [whole], payloads
    else:
        assert kind == "multipart/mixed;boundary=graphql;incrementalSpec=v0.2", kind
        got, wanted = summary(payloads), summary(expected)
        # With which of several fragments that wait for the same a field comes, and so whether the others are ever
        # pending, is chance; where many overlap the two differ.
        parts = ("first", "entries") if is_made_up else ("first", "entries", "pending", "completed")
        for what, mine, theirs in zip(parts, got, wanted):
            assert mine == theirs, f"{what}: {mine}\nnot {theirs}\nin {json.dumps(payloads)}"
        assert got[4] == whole["data"], f"together: {text(got[4])}\nnot {text(whole['data'])}"
    kind, payloads = send(
        document, variables, 'multipart/mixed; deferSpec="20220824", application/json;q=0.9'
    )
    if kind is None:
        assert payloads == [whole], payloads
        assert expected is None or is_large(document), "2022: not in parts"
        return expected is not None
    assert kind == "multipart/mixed;boundary=graphql;deferSpec=20220824", kind
    data = payloads[0]["data"]
    found = set()
    for number, payload in enumerate(payloads):
        assert payload["hasNext"] == (number < len(payloads) - 1), payload
        for entry in payload.get("incremental", []):
            path = entry["path"]
            if "items" in entry:
                *path, first = path
                for index, item in enumerate(entry["items"], first):
                    place = at(data, path)
                    assert index <= len(place), entry
                    if index == len(place):
                        place.append(item)
                    else:
                        merge(place[index], item)
            else:
                merge(at(data, path), entry["data"])
            found.add(text([path, entry.get("label"), None]))
    assert data == whole["data"], f"2022: {text(data)}\nnot {text(whole['data'])}"
    if expected is not None:
        missing = set(summary(expected)[2]) - found
        assert not missing, f"2022: nothing of {missing}"
    return expected is not None


def made_up(choose):
    """A document of fields and fragments at random."""
    labels = iter(range(1000))
    # Those that are merged must be alike, so that they have no labels.
    streams = {
        name: choose.choice(["", "", f" @stream(initialCount: {choose.randint(0, 2)})"])
        for name in ("nodes", "edges", "ancestors")
    }
    fields = {
        "Post": ["id", "body", "commentCount", "createdAt"],
        "User": ["id", "username", "displayName", "name: displayName"],
        "Location": ["id", "name", "level"],
        "Comment": ["id", "body"],
    }
    inner = {
        "Post": [
            ("author", "{}", "User"),
            ("location", "{}", "Location"),
            ("comments(first: 3)", f"nodes{streams['nodes']} {{ {{}} }}", "Comment"),
            (
                "comments(first: 3)",
                f"totalCount edges{streams['edges']} {{ cursor node {{ {{}} }} }} pageInfo {{ hasNextPage endCursor }}",
                "Comment",
            ),
        ],
        "User": [("posts(first: 3)", f"nodes{streams['nodes']} {{ {{}} }}", "Post")],
        "Location": [("parent", "{}", "Location"), (f"ancestors{streams['ancestors']}", "{}", "Location")],
        "Comment": [("author", "{}", "User")],
    }

    def deferred(body):
        label = f'(label: "{next(labels)}")' if choose.random() < 0.8 else ""
        return f"... @defer{label} {{ {body} }}"

    def selections(kind, depth):
        found = choose.sample(fields[kind], choose.randint(1, 2))
        for _ in range(choose.randint(0, 3) if depth > 0 else 0):
            if choose.random() < 0.6:
                field, body, target = choose.choice(inner[kind])
                body = body.replace("{}", selections(target, depth - 1))
                found.append(f"{field} {{ {deferred(body) if choose.random() < 0.3 else body} }}")
            else:
                found.append(deferred(selections(kind, depth - 1)))
        choose.shuffle(found)
        return " ".join(found)

    return "query($post: ID!) { post(id: $post) { " + selections("Post", 4) + " } }"


failures = parts = 0
documents = [(name, document) for name, document in cases["documents"].items()]
choose = random.Random(cases["seed"])
documents += [(f"made up {number}", made_up(choose)) for number in range(cases["count"])]
for name, document in documents:
    try:
        used = {v["name"] for v in cases["variables"]}
        variables = {v["name"]: v["value"] for v in cases["variables"] if "$" + v["name"] in document}
        parts += check(document, variables, name.startswith("made up"))
    except (AssertionError, KeyError, ValueError) as error:
        failures += 1
        print(f"{name}: {document}\n  {type(error).__name__}: {error}")
print(f"{len(documents)} documents, {parts} in parts, {failures} differ")
