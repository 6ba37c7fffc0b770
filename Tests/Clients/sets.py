"""Sends an operation with several sets of variables at once, as a list and as JSON Lines, and each set by itself, and
compares the responses: URL, token, and a file with a document and sets. Prints what differs."""
import json
import sys

import httpx

url, token, case_file = sys.argv[1:4]
case = json.load(open(case_file))
client = httpx.Client(timeout=60, headers={"authorization": "Bearer " + token} if token else {})


def send(variables, accept):
    return client.post(
        url, json={"query": case["query"], "variables": variables}, headers={"accept": accept}
    )


def plain(response):
    """A response without what is of the request: its number."""
    errors = [
        {**error, "extensions": {**error["extensions"], "requestId": None}}
        for error in response.get("errors", [])
    ]
    return {**response, **({"errors": errors} if errors else {})}


def batch(accept):
    response = send(case["sets"], accept)
    assert response.status_code == 200, response.text
    kind = response.headers["content-type"]
    assert kind == accept + "; charset=utf-8", kind
    if "jsonl" in accept:
        assert response.text.endswith("\n")
        return [json.loads(line) for line in response.text.splitlines()]
    return response.json()


singles = [send(variables, "application/json").json() for variables in case["sets"]]
differ = 0
for accept in ["application/json", "application/jsonl", "application/graphql-response+jsonl"]:
    found = {}
    for response in batch(accept):
        index = response.pop("variableIndex")
        assert index not in found
        found[index] = response
    for index, single in enumerate(singles):
        if plain(found[index]) != plain(single):
            differ += 1
            print(accept, index, found[index], single)
print(len(singles), "sets,", differ, "differ")
