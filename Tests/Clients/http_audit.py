"""Holds a server against GraphQL over HTTP, edition of September 2026: http_audit.py URL [--profile NAME].

The server has the demo data. Prints a line for each check: `ok` or `SHORT`, its ID, the level of the statement, the
section, what a server does, and what was seen instead. A check is `left` if the profile (`--http-profile`) leaves out
the statement on purpose, and `untold` if this server gives no occasion to tell. Ends with 1 if a MUST or a SHOULD is
short. A level in lower case is that of RFC 9110 or 9112, which the section "Response" refers to. Nothing is written:
mutations are those that the server refuses. The section "Security" of the edition is not normative, so its checks have
the level MAY.
"""
import argparse
import gzip
import http.client
import json
import socket
import ssl
import time
import urllib.parse

RESULT = "application/graphql-response+json"
JSON = "application/json"
TYPENAME = {"__typename": "Query"}
PLAIN = {"query": "{ __typename }"}
ECHO = "query($text: String) { shareDraft(channel: EMAIL, to: $text) { to } }"
USERS = "query($n: Int) { users(first: $n) { nodes { id } } }"
TWO = "query one { a: __typename } query two { b: __typename }"
REFUSED = 'mutation { createTextPost(input: {body: ""}) { textPost { id } } }'
BOTH = "query read { __typename } " + REFUSED.replace("mutation", "mutation write")
HASH = {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": "0" * 64}}}
WORDS = "Grüße 東京 💡 \u2028."
STRANGER = [("Authorization", "Bearer nobody")]

# The kinds of failure, each with the body of a request and the status of the edition.
FAILURES = {
    "syntax": ({"query": "{"}, 400),
    "validation": ({"query": "{ nothing }"}, 422),
    "operation": ({"query": TWO, "operationName": "three"}, 422),
    "variables": ({"query": USERS, "variables": {"n": "many"}}, 422),
    "malformed": ({"query": "{ __typename }", "variables": 7}, 422),
    "no-json": (b"NONSENSE", 400),
}

# Documents that break a rule, by the section of the GraphQL specification.
RULES = {
    "documents": [
        "{ __typename } type A { b: Int }",
    ],
    "operations": [
        "query a { __typename } query a { __typename }",
        "{ __typename } query a { __typename }",
        "query a { __typename } subscription b { __typename }",
    ],
    "fields": [
        "{ nothing }",
        "{ users(first: 1) { nodes { a: id a: username } } }",
        "{ __typename { a } }",
        "{ users(first: 1) }",
    ],
    "arguments": [
        "{ users(nothing: 1) { nodes { id } } }",
        "{ users(first: 1, first: 1) { nodes { id } } }",
        "{ node { id } }",
    ],
    "fragments": [
        "{ ...a } fragment a on Query { __typename } fragment a on Query { __typename }",
        "{ ...a } fragment a on Nothing { __typename }",
        "{ ... on Int { __typename } }",
        "{ __typename } fragment a on Query { __typename }",
        "{ ...a }",
        "{ ...a } fragment a on Query { ...a }",
        "{ users(first: 1) { nodes { ... on Location { id } } } }",
    ],
    "values": [
        '{ users(first: "one") { nodes { id } } }',
        '{ user(by: {nothing: "a"}) { id } }',
        '{ user(by: {id: "a", id: "a"}) { id } }',
        "{ schedule(filter: {}) { totalCount } }",
        '{ user(by: {id: "a", username: "b"}) { id } }',
    ],
    "directives": [
        "{ __typename @nothing }",
        "query @skip(if: false) { __typename }",
        "{ __typename @skip(if: false) @skip(if: false) }",
    ],
    "variables": [
        "query($n: Int, $n: Int) { users(first: $n) { nodes { id } } }",
        "query($n: User) { users(first: $n) { nodes { id } } }",
        "{ users(first: $n) { nodes { id } } }",
        "query($n: Int) { __typename }",
        "query($n: String) { users(first: $n) { nodes { id } } }",
    ],
}


class Short(Exception):
    """What was seen instead of what the edition demands."""


class Untold(Exception):
    """Why a check cannot tell."""


class Answer:
    """A response, read to its end."""

    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    @property
    def media_type(self):
        return self.headers.get("content-type", "").split(";")[0].strip().lower()

    @property
    def charset(self):
        return (self.headers.get_content_charset() or "").lower()

    def __str__(self):
        return f"{self.status} {self.media_type or 'without a type'} {self.body[:120].decode('utf-8', 'replace')!r}"


class Server:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.tls = parts.scheme == "https"
        self.host, self.port = parts.hostname, parts.port or (443 if self.tls else 80)
        self.path, self.authority = parts.path or "/", parts.netloc

    def connect(self, timeout=10):
        connection = socket.create_connection((self.host, self.port), timeout)
        return ssl.create_default_context().wrap_socket(connection, server_hostname=self.host) \
            if self.tls else connection

    def head(self, method, headers, target=None):
        """A request up to its body. A header whose value is None is left out."""
        lines = [f"{method} {target or self.path} HTTP/1.1"]
        given = {name.lower() for name, _ in headers}
        for name, value in (("Host", self.authority), ("Connection", "close")):
            if name.lower() not in given:
                lines.append(f"{name}: {value}")
        lines += [f"{name}: {value}" for name, value in headers if value is not None]
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    def exchange(self, message, method="POST", timeout=10):
        with self.connect(timeout) as connection:
            try:
                connection.sendall(message)
            except (BrokenPipeError, ConnectionResetError):
                pass  # The server refused the request before it had all of it.
            return receive(connection, method)

    def send(self, method, headers=(), body=None, target=None):
        headers = list(headers)
        if body is not None:
            headers.append(("Content-Length", len(body)))
        return self.exchange(self.head(method, headers, target) + (body or b""), method)

    def post(self, body, accept=RESULT, media_type=JSON, headers=()):
        """Posts bytes, or a value as JSON. Neither `accept` nor `media_type` is sent if it is None."""
        if not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        return self.send("POST", [("Content-Type", media_type), ("Accept", accept), *headers], body)

    def get(self, parameters, accept=RESULT, headers=(), method="GET"):
        """Sends parameters, or a query component as it is, with a header that no form of another site can send."""
        if not isinstance(parameters, str):
            parameters = urllib.parse.urlencode(parameters)
        headers = [("Accept", accept), ("GraphQL-Require-Preflight", "1"), *headers]
        return self.send(method, headers, target=f"{self.path}?{parameters}")


def receive(connection, method="POST"):
    try:
        response = http.client.HTTPResponse(connection, method=method)
        response.begin()
        return Answer(response)
    except TimeoutError as error:
        raise Short("no response in time") from error
    except (OSError, http.client.HTTPException) as error:
        raise Short(f"no response: {error!r}") from error


def demand(condition, seen):
    if not condition:
        raise Short(str(seen))


def parsed(answer):
    try:
        return json.loads(answer.body.decode("utf-8"))
    except ValueError as error:
        raise Short(f"not JSON in UTF-8: {answer}") from error


def result(answer):
    """The GraphQL result of a response, which is well-formed."""
    value = parsed(answer)
    demand(isinstance(value, dict) and value and value.keys() <= {"data", "errors", "extensions"}, answer)
    demand("data" in value or "errors" in value, answer)
    demand(isinstance(value.get("data"), dict) or value.get("data") is None, answer)
    demand(isinstance(value.get("extensions", {}), dict), answer)
    demand("errors" in value or value["data"] is not None, answer)
    if "errors" in value:
        demand(isinstance(value["errors"], list) and value["errors"], answer)
        for error in value["errors"]:
            demand(isinstance(error, dict), answer)
            demand(error.keys() <= {"message", "locations", "path", "extensions"}, answer)
            demand(isinstance(error.get("message"), str), answer)
            demand(isinstance(error.get("extensions", {}), dict), answer)
            for location in error.get("locations", []):
                demand(location["line"] >= 1 and location["column"] >= 1, answer)
            for step in error.get("path", []):
                demand(isinstance(step, (str, int)), answer)
    return value


def succeeded(answer, data=None):
    demand(answer.status == 200 and answer.media_type in (RESULT, JSON), answer)
    value = result(answer)
    demand("errors" not in value and (data is None or value["data"] == data), answer)


def failed(answer, *statuses):
    """Holds if a response refuses the request, with one of these statuses, or any from 400 to 499."""
    demand(answer.status in statuses if statuses else 400 <= answer.status < 500, answer)
    if answer.media_type in (RESULT, JSON):
        demand("data" not in result(answer), answer)


checks = []
STATUSES = ("audit",)  # This profile has statuses of its own,
LEGACY = ("audit", "auto")  # and these for clients that accept application/json only.


def check(level, section, description, left=()):
    def add(run):
        checks.append((run.__name__.replace("_", "-"), level, section, description, left, run))
        return run
    return add


def each(name, level, section, description, cases, run, left=()):
    """Adds a check for each case, whose name is part of the ID and of the description."""
    for case, value in cases.items():
        checks.append((
            f"{name}-{case}", level, section, description.format(case.replace("-", " ")), left,
            lambda server, value=value: run(server, value)))


# URL


@check("MUST", "URL", "executes a request that is sent to the URL")
def url_serves(server):
    succeeded(server.post(PLAIN), TYPENAME)


@check("SHOULD", "URL", "forbids a client with a status from 400 on")
def url_forbids(server):
    answer = server.post(PLAIN, headers=STRANGER)
    demand(400 <= answer.status < 600, answer)


@check("SHOULD NOT", "URL", "forbids a client for what its request asks; a field that is refused fails by itself")
def url_forbids_fields(server):
    answer = server.post({"query": REFUSED})
    value = result(answer)
    demand(200 <= answer.status < 300 and "data" in value and "errors" in value, answer)


@check("SHOULD NOT", "URL", "decides by the contents of a well-formed request whether to forbid it")
def url_forbids_alike(server):
    bodies = [PLAIN, {"query": USERS}, {"query": TWO, "operationName": "one"}, {"query": REFUSED}]
    statuses = [server.post(body, headers=STRANGER).status for body in bodies]
    demand(len(set(statuses)) == 1, statuses)


# Serialization Format, Media Types


def echoes(server, body, text, **arguments):
    succeeded(server.post(body, **arguments), {"shareDraft": {"to": [text]}})


@check("MUST", "Serialization Format", "reads and writes strings of JSON with what must be escaped")
def json_strings(server):
    text = 'a"\\/\b\f\n\r\t\u0001z'
    echoes(server, {"query": ECHO, "variables": {"text": text}}, text)


@check("MUST", "Serialization Format", "reads escapes of JSON in names, documents and values")
def json_escapes(server):
    body = (b'{"\\u0071uery": "query($text: String) { shareDraft(channel: EMAIL, to: $text) \\u007b to } }",'
            b' "variables": {"te\\u0078t": "\\u6771\\ud83d\\udca1"}}')
    echoes(server, body, "東💡")


@check("MUST", "Serialization Format", "reads JSON with white space around and between its tokens")
def json_white_space(server):
    succeeded(server.post(b'\r\n\t {\n"query"\t:\r"{ __typename }" , "variables" : { } }\n\n'), TYPENAME)


@check("MUST", "Media Types", "reads a body as UTF-8 if its type names no charset")
def utf8_body(server):
    echoes(server, {"query": ECHO, "variables": {"text": WORDS}}, WORDS)


def writes_utf8(server, accept):
    answer = server.post({"query": ECHO, "variables": {"text": WORDS}}, accept)
    succeeded(answer, {"shareDraft": {"to": [WORDS]}})
    demand(answer.charset in ("", "utf-8"), answer.headers["content-type"])


each("utf8-answer", "MUST", "Media Types", "writes UTF-8 if Accept names no charset: {}",
     {"results": RESULT, "json": JSON}, writes_utf8)


# Request


@check("MUST", "Request", "accepts requests by POST")
def request_post(server):
    succeeded(server.post({"query": USERS, "variables": {"n": 1}}))


@check("MAY", "Request", "accepts requests by GET")
def request_get(server):
    succeeded(server.get(PLAIN), TYPENAME)


@check("MUST", "Request", "executes the operation that operationName names")
def request_operation(server):
    for name, data in (("one", {"a": "Query"}), ("two", {"b": "Query"})):
        succeeded(server.post({"query": TWO, "operationName": name}), data)


@check("MUST", "Request", "gives the operation its variables")
def request_variables(server):
    for count in (1, 3):
        answer = server.post({"query": USERS, "variables": {"n": count}})
        succeeded(answer)
        demand(len(result(answer)["data"]["users"]["nodes"]) == count, answer)


@check("MUST", "Request", "answers a request with extensions that it does not know")
def request_extensions(server):
    succeeded(server.post({**PLAIN, "extensions": {"unknown": {"a": [1, None]}}}), TYPENAME)


@check("MUST", "Request", "answers a request with all four parameters, in any order")
def request_order(server):
    members = {"extensions": {}, "variables": {"n": 1}, "operationName": "a", "query": "query a" + USERS[5:]}
    succeeded(server.post(members))
    succeeded(server.post(dict(reversed(members.items()))))


@check("MAY", "Accept", "answers a request without Accept with a type of its choice")
def accept_absent(server):
    succeeded(server.post(PLAIN, None), TYPENAME)


# GET


each("get", "MUST", "GET", "reads a request from the URL: {}", {
    "query": ("query=%7B%20__typename%20%7D", TYPENAME),
    "plus-as-space": ("query=query+a+%7b+__typename+%7d", TYPENAME),
    "variables": (urllib.parse.urlencode({"query": ECHO, "variables": '{"text": "1+1 & 2%"}'}),
                  {"shareDraft": {"to": ["1+1 & 2%"]}}),
    "utf-8": (urllib.parse.urlencode({"query": ECHO, "variables": json.dumps({"text": WORDS}, ensure_ascii=False)}),
              {"shareDraft": {"to": [WORDS]}}),
    "operation": (urllib.parse.urlencode({"query": TWO, "operationName": "two"}), {"b": "Query"}),
    "extensions": (urllib.parse.urlencode({**PLAIN, "extensions": '{"unknown": 1}'}), TYPENAME),
    "escaped-names": ("%71uery=%7B__typename%7D", TYPENAME),
    "empty-pairs": ("&&query=%7B__typename%7D&", TYPENAME),
    "empty-operation": ("query=%7B__typename%7D&operationName=", TYPENAME),
    "empty-variables": ("query=%7B__typename%7D&variables=", TYPENAME),
    "empty-extensions": ("query=%7B__typename%7D&extensions=", TYPENAME),
    "empty-without-equals": ("query=%7B__typename%7D&operationName&variables&extensions", TYPENAME),
    "operation-null": (urllib.parse.urlencode({"query": "query null { a: __typename } query b { b: __typename }",
                                               "operationName": "null"}), {"a": "Query"}),
}, lambda server, case: succeeded(server.get(case[0]), case[1]))


@check("MUST", "GET", "takes operationName=null for a name, which no operation has here")
def get_operation_null_unknown(server):
    failed(server.get({**PLAIN, "operationName": "null"}))


each("get", "SHOULD", "Status Codes", "answers 422 to a URL that is not a well-formed request: {}", {
    "no-query": {"operationName": "a"},
    "variables-number": {**PLAIN, "variables": "7"},
    "variables-string": {**PLAIN, "variables": '"a"'},
    "variables-list": {**PLAIN, "variables": "[7]"},
    "variables-list-of-objects": {**PLAIN, "variables": "[{}]"},
    "extensions-number": {**PLAIN, "extensions": "7"},
    "extensions-list": {**PLAIN, "extensions": "[{}]"},
}, lambda server, case: failed(server.get(case), 422), STATUSES)

each("get", "MUST", "Status Codes", "refuses a URL with broken JSON: {}", {
    "variables-broken": {**PLAIN, "variables": "{"},
    "variables-bare": {**PLAIN, "variables": "NONSENSE"},
    "extensions-broken": {**PLAIN, "extensions": '{"a":'},
}, lambda server, case: failed(server.get(case)))

MUTATIONS = {
    "mutation": {"query": REFUSED},
    "mutation-by-name": {"query": BOTH, "operationName": "write"},
}
each("get-refuses", "MUST", "GET", "refuses a {} with a status from 400 to 499, and does not execute it", MUTATIONS,
     lambda server, case: failed(server.get(case)))
each("get-405", "SHOULD", "GET", "answers 405 to a {}", MUTATIONS, lambda server, case: failed(server.get(case), 405))


@check("MUST", "GET", "lists in Allow what it allows instead, if a mutation is answered with 405")
def get_allow(server):
    answer = server.get({"query": REFUSED})
    if answer.status != 405:
        raise Untold("the status is not 405")
    demand("POST" in answer.headers.get("allow", ""), answer.headers.get("allow"))


@check("MUST", "GET", "refuses a mutation also for a client that accepts application/json only")
def get_refuses_legacy(server):
    failed(server.get({"query": REFUSED}, JSON))


@check("MUST", "GET", "executes the query of a document that also has a mutation")
def get_query_beside_mutation(server):
    succeeded(server.get({"query": BOTH, "operationName": "read"}), TYPENAME)


# POST


@check("MUST", "POST", "performs queries and mutations")
def post_mutation(server):
    succeeded(server.post(PLAIN), TYPENAME)
    demand("createTextPost" in result(server.post({"query": REFUSED}))["data"], "the mutation was not executed")


each("post-type", "MUST", "POST", "reads JSON in UTF-8 by its type, however it is written: {}", {
    "plain": "application/json",
    "charset": "application/json; charset=utf-8",
    "charset-in-capitals": "application/json; charset=UTF-8",
    "charset-quoted": 'application/json; charset="utf-8"',
    "in-capitals": "Application/JSON;Charset=utf-8",
    "white-space": "application/json \t; \t charset=utf-8",
    "other-parameter": "application/json; profile=a; charset=utf-8",
}, lambda server, media_type: echoes(
    server, {"query": ECHO, "variables": {"text": WORDS}}, WORDS, media_type=media_type))

each("post-type", "SHOULD", "POST", "refuses a body with {}", {"no-type": None, "an-empty-type": ""},
     lambda server, media_type: failed(server.post(PLAIN, media_type=media_type)))

each("post-415", "SHOULD", "Status Codes", "answers 415 to a body of the type {}", {
    "text/plain": ("text/plain", b'{"query": "{ __typename }"}'),
    "application/xml": ("application/xml", b"<query>{ __typename }</query>"),
    "application/jsonx": ("application/jsonx", b'{"query": "{ __typename }"}'),
    "application-json": ("application-json", b'{"query": "{ __typename }"}'),
    "image/png": ("image/png", b"\x89PNG"),
}, lambda server, case: failed(server.post(case[1], media_type=case[0]), 415))

each("post-charset", "MAY", "POST", "decodes a body in {}, or answers 415", {
    "utf-16": "utf-16", "iso-8859-1": "iso-8859-1", "an-unknown-charset": "nothing",
}, lambda server, charset: other_charset(server, charset))


def other_charset(server, charset):
    body = json.dumps({"query": ECHO, "variables": {"text": "Grüße"}}, ensure_ascii=False)
    encoded = body.encode("ascii" if charset == "nothing" else charset, "replace")
    answer = server.post(encoded, media_type="application/json; charset=" + charset)
    if answer.status == 200:
        succeeded(answer, {"shareDraft": {"to": ["Grüße"]}})
    else:
        failed(answer, 415)


@check("MAY", "POST", "decodes a compressed body, or answers 415")
def post_coding(server):
    answer = server.post(gzip.compress(json.dumps(PLAIN).encode()), headers=[("Content-Encoding", "gzip")])
    if answer.status == 200:
        succeeded(answer, TYPENAME)
    else:
        failed(answer, 415)


# JSON Encoding


each("json-null", "MUST", "JSON Encoding", "takes null for no {} at all", {
    "operationName": {"operationName": None}, "variables": {"variables": None}, "extensions": {"extensions": None},
    "optional-parameter": {"operationName": None, "variables": None, "extensions": None},
}, lambda server, case: succeeded(server.post({**PLAIN, **case}), TYPENAME))

each("json-ignores", "MUST", "JSON Encoding", "ignores a member that it does not know: {}", {
    "null": None, "string": "a", "number": 7, "list": [[]], "object": {"query": "{ nothing }"},
}, lambda server, case: succeeded(server.post({"unknown": case, **PLAIN, "Query": case, "queries": case}), TYPENAME))


def adds_no_member(server, case):
    answers = [server.post({**PLAIN, case: value}) for value in ("a", 7, {"a": 1})]
    for answer in answers:
        succeeded(answer, TYPENAME)


each("json-adds", "MUST NOT", "JSON Encoding", "gives a meaning to {}, a member beyond the four", {
    name: name for name in ("id", "documentId", "doc_id", "onError", "operations", "map")
}, adds_no_member)

each("json-422", "SHOULD", "Status Codes", "answers 422 to JSON that is not a well-formed request: {}", {
    "no-query": {},
    "typing-error": {"qeury": "{ __typename }"},
    "hash-and-no-query": HASH,
    "id-and-no-query": {"documentId": "sha256:" + "0" * 64},
    "query-null": {"query": None},
    "query-number": {"query": 7},
    "query-true": {"query": True},
    "query-list": {"query": ["{ __typename }"]},
    "query-object": {"query": {"a": "{ __typename }"}},
    "operation-number": {**PLAIN, "operationName": 7},
    "operation-false": {**PLAIN, "operationName": False},
    "operation-list": {**PLAIN, "operationName": []},
    "operation-object": {**PLAIN, "operationName": {}},
    "variables-number": {**PLAIN, "variables": 7},
    "variables-true": {**PLAIN, "variables": True},
    "variables-string": {**PLAIN, "variables": "{}"},
    "variables-empty-string": {**PLAIN, "variables": ""},
    "variables-list": {**PLAIN, "variables": [7]},
    "variables-empty-list": {**PLAIN, "variables": []},
    "variables-list-of-objects": {**PLAIN, "variables": [{}]},
    "extensions-number": {**PLAIN, "extensions": 7},
    "extensions-false": {**PLAIN, "extensions": False},
    "extensions-string": {**PLAIN, "extensions": ""},
    "extensions-list": {**PLAIN, "extensions": [{}]},
    "body-null": b"null",
    "body-number": b"7",
    "body-string": b'"{ __typename }"',
    "body-empty-list": b"[]",
    "body-list": [PLAIN, PLAIN],
}, lambda server, body: failed(server.post(body), 422), STATUSES)

each("json-400", "SHOULD", "Status Codes", "answers 400 to a body that is not JSON: {}", {
    "empty": b"",
    "white-space": b" \n",
    "bare-words": b"NONSENSE",
    "unfinished": b'{"query":',
    "comma": b'{"query": "{ __typename }",}',
    "two-values": b'{"query": "{ __typename }"} {}',
    "single-quotes": b"{'query': '{ __typename }'}",
    "comment": b'{"query": "{ __typename }" /* a */}',
    "not-a-number": b'{"query": "{ __typename }", "unknown": NaN}',
    "leading-zero": b'{"query": "{ __typename }", "unknown": 01}',
    "bare-line-end": b'{"query": "{ __typename }\n"}',
    "unknown-escape": b'{"query": "{ __typename }\\x20"}',
    "not-utf-8": b'{"query": "{ __typename } # \xff"}',
    "overlong-utf-8": b'{"query": "{ __typename } # \xc0\xaf"}',
    "surrogate-in-utf-8": b'{"query": "{ __typename } # \xed\xa0\x80"}',
    "nested-100000-deep": b'{"query": "{ __typename }", "unknown": ' + b"[" * 100_000,
}, lambda server, body: failed(server.post(body), 400))


@check("MAY", "JSON Encoding", "reads or refuses a body that begins with a byte order mark")
def json_mark(server):
    answer = server.post(b"\xef\xbb\xbf" + json.dumps(PLAIN).encode())
    if answer.status == 200:
        succeeded(answer, TYPENAME)
    else:
        failed(answer)


# Response, of which HTTP itself is a part


@check("must", "Response", "answers HEAD, if GET is supported, with the head of the same response and no body")
def http_head(server):
    got, head = server.get(PLAIN), server.get(PLAIN, method="HEAD")
    demand(head.status == got.status and not head.body, head)
    demand(head.headers["content-type"] == got.headers["content-type"], head.headers.items())


@check("must", "Response", "refuses a mutation by HEAD, as by GET")
def http_head_mutation(server):
    demand(400 <= server.get({"query": REFUSED}, method="HEAD").status < 500, "a mutation by HEAD was not refused")


@check("must", "Response", "sends the date, if it answers as a clock does")
def http_date(server):
    demand(server.post(PLAIN).headers.get("date"), "no Date")


@check("must", "Response", "names a scheme of authentication with 401")
def http_challenge(server):
    answer = server.post(PLAIN, headers=STRANGER)
    if answer.status != 401:
        raise Untold("the status is not 401")
    demand(answer.headers.get("www-authenticate"), "no WWW-Authenticate")


@check("must", "Response", "reads names of headers regardless of case")
def http_names(server):
    body = json.dumps(PLAIN).encode()
    answer = server.send("POST", [("cOnTeNt-TyPe", JSON), ("ACCEPT", RESULT)], body)
    succeeded(answer, TYPENAME)
    demand(answer.media_type == RESULT, answer)


@check("must", "Response", "reads a body in chunks")
def http_chunks(server):
    body = json.dumps({"query": ECHO, "variables": {"text": WORDS}}, ensure_ascii=False).encode()
    chunks = b"".join(b"%x;a=b\r\n%b\r\n" % (len(body[at:at + 7]), body[at:at + 7]) for at in range(0, len(body), 7))
    head = server.head("POST", [("Content-Type", JSON), ("Accept", RESULT), ("Transfer-Encoding", "chunked")])
    succeeded(server.exchange(head + chunks + b"0\r\n\r\n"), {"shareDraft": {"to": [WORDS]}})


@check("must", "Response", "reads a URL in absolute form")
def http_absolute(server):
    scheme = "https" if server.tls else "http"
    succeeded(server.send("POST", [("Content-Type", JSON), ("Accept", RESULT)], json.dumps(PLAIN).encode(),
                          f"{scheme}://{server.authority}{server.path}"), TYPENAME)


@check("must", "Response", "answers a second request of a connection")
def http_again(server):
    body = json.dumps(PLAIN).encode()
    headers = [("Connection", None), ("Content-Type", JSON), ("Accept", RESULT), ("Content-Length", len(body))]
    message = server.head("POST", headers) + body
    with server.connect() as connection:
        connection.sendall(message)
        succeeded(receive(connection), TYPENAME)
        connection.sendall(message)
        succeeded(receive(connection), TYPENAME)


@check("must", "Response", "answers Expect: 100-continue with 100 or with the response")
def http_continue(server):
    body = json.dumps(PLAIN).encode()
    head = server.head("POST", [("Content-Type", JSON), ("Accept", RESULT), ("Expect", "100-continue"),
                                ("Content-Length", len(body))])
    with server.connect(5) as connection:
        connection.sendall(head)
        try:
            first = connection.recv(12, socket.MSG_PEEK) if not server.tls else b"HTTP/1.1 100"
        except TimeoutError as error:
            raise Short("neither came") from error
        if first == b"HTTP/1.1 100":
            connection.sendall(body)
            succeeded(receive(connection), TYPENAME)
        else:
            demand(first.startswith(b"HTTP/1.1 "), first)


@check("must", "Response", "answers a client of HTTP/1.0 without chunks")
def http_old(server):
    body = json.dumps(PLAIN).encode()
    head = server.head("POST", [("Content-Type", JSON), ("Accept", RESULT), ("Content-Length", len(body))])
    answer = server.exchange(head.replace(b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", 1) + body)
    demand("transfer-encoding" not in answer.headers, "chunks")
    succeeded(answer, TYPENAME)


@check("should", "Response", "tells caches by Vary that the response depends on Accept")
def http_vary(server):
    vary = ", ".join(server.get(PLAIN).headers.get_all("vary") or [])
    demand({"accept", "*"} & {name.strip() for name in vary.lower().split(",")}, vary or "no Vary")


def breaks_http(server, case):
    body = json.dumps(PLAIN).encode()
    headers = [("Content-Type", JSON), ("Accept", RESULT), ("Content-Length", len(body))]
    message = case(server.head("POST", headers), server) + body
    answer = server.exchange(message)
    demand(answer.status == 400, answer)


each("http-400", "must", "Response", "answers 400 to a request that breaks HTTP: {}", {
    "no-host": lambda head, server: head.replace(f"Host: {server.authority}\r\n".encode(), b""),
    "two-hosts": lambda head, server: head.replace(b"Host: ", b"Host: a\r\nHost: ", 1),
    "space-before-colon": lambda head, server: head.replace(b"Accept:", b"Accept :"),
    "two-lengths": lambda head, server: head.replace(b"Content-Length: ", b"Content-Length: 1\r\nContent-Length: "),
    "length-not-a-number": lambda head, server: head.replace(b"Content-Length: ", b"Content-Length: a"),
}, breaks_http)


# Body


def names_types(server):
    """A response of each sort that the server gives, with its name."""
    yield "data", server.post(PLAIN)
    yield "data for application/json", server.post(PLAIN, JSON)
    yield "errors in data", server.post({"query": REFUSED})
    for name, (body, _) in FAILURES.items():
        yield name, server.post(body)
        yield name + " for application/json", server.post(body, JSON)
    yield "no type", server.post(PLAIN, media_type=None)
    yield "415", server.post(PLAIN, media_type="text/plain")
    yield "406", server.post(PLAIN, "text/plain")
    yield "405", server.send("DELETE", [("Accept", RESULT)])
    yield "a mutation by GET", server.get({"query": REFUSED})
    yield "a stranger", server.post(PLAIN, headers=STRANGER)
    yield "a GET of a form", server.send("GET", [("Accept", RESULT)], target=server.path + "?query=%7B__typename%7D")
    yield "an empty GET", server.get("")
    yield "414", server.exchange(too_long_url(server, 100_000), "GET")
    yield "431", server.exchange(too_large_header(server, 100_000))
    yield "broken HTTP", server.exchange(server.head("POST", [("Content-Length", "a"), ("Accept", RESULT)]))
    yield "a hash", server.post(HASH)


def names_type(name, answer):
    demand(answer.media_type or not answer.body, f"{name}: {answer}")


def names_charset(name, answer):
    demand(answer.charset or answer.media_type not in (RESULT, JSON), f"{name}: {answer.headers['content-type']}")


def is_well_formed(name, answer):
    try:
        if answer.media_type == RESULT:
            result(answer)
    except Short as error:
        raise Short(f"{name}: {error}") from error


def fits_its_status(name, answer):
    if answer.media_type in (RESULT, JSON):
        value = result(answer)
        if "data" not in value:
            demand(answer.status >= 400, f"{name}: {answer}")
        elif value["data"] is not None:
            demand(200 <= answer.status < 300, f"{name}: {answer}")


def of_all(judge):
    def run(server):
        for name, answer in names_types(server):
            judge(name, answer)
    return run


for identity, level_, section_, description_, judge_, left_ in (
    ("body-type", "MUST", "Body", "names the media type of each sort of response", names_type, ()),
    ("body-charset", "SHOULD", "Body", "names the encoding of each sort of response", names_charset, ()),
    ("body-well-formed", "MUST NOT", "Status Codes", "calls a GraphQL response what is none", is_well_formed, ()),
    ("body-status", "MUST", "Status Codes", "gives data a 2xx, and no data a 4xx or 5xx, in each sort of response",
     fits_its_status, LEGACY),
):
    checks.append((identity, level_, section_, description_, left_, of_all(judge_)))


@check("MUST", "Body", "writes results without an entry errors, or with data and errors that have a path")
def body_execution(server):
    demand(result(server.post(PLAIN)) == {"data": TYPENAME}, "more than data")
    value = result(server.post({"query": REFUSED.replace("{", "{ __typename ", 1)}))
    demand(value["data"] == {"__typename": "Mutation", "createTextPost": None}, value)
    demand([error.get("path") for error in value["errors"]] == [["createTextPost"]], value)


each("body-request-error", "MUST", "Body", "writes errors, and no data, for a request error: {}", {
    name: body for name, (body, _) in FAILURES.items()
}, lambda server, body: failed(server.post(body)))


@check("MUST", "Body", "locates errors of a document by line and column")
def body_locations(server):
    value = result(server.post({"query": "{\n  __typename\n  nothing\n}"}))
    demand(value["errors"][0].get("locations") == [{"line": 3, "column": 3}], value)


@check("MUST", "Body", "can write application/graphql-response+json")
def body_result(server):
    answer = server.post(PLAIN)
    succeeded(answer, TYPENAME)
    demand(answer.media_type == RESULT, answer)


def negotiates(server, case):
    accept, *expected = case
    headers = [("Accept", value) for value in accept] if isinstance(accept, list) else [("Accept", accept)]
    for answer in (server.post(PLAIN, None, headers=headers), server.get(PLAIN, None, headers)):
        succeeded(answer, TYPENAME)
        demand(answer.media_type in expected, answer)


each("accept", "MUST", "Body", "chooses the type of the highest priority that Accept lists: {}", {
    "advised": (f"{RESULT}, {JSON};q=0.9", RESULT),
    "advised-in-other-order": (f"{JSON};q=0.9, {RESULT}", RESULT),
    "json-preferred": (f"{RESULT};q=0.5, {JSON}", JSON),
    "json-preferred-by-a-little": (f"{RESULT};q=0.998, {JSON};q=0.999", JSON),
    "charset": (f"{RESULT}; charset=utf-8, {JSON}; charset=utf-8; q=0.9", RESULT),
    "json-with-charset": (f"{JSON}; charset=utf-8", JSON),
    "capitals": (f"{RESULT.upper()};Q=1, {JSON};q=0.1", RESULT),
    "white-space": (f"\t{JSON} \t;\t q=0.1 \t,\t{RESULT}", RESULT),
    "empty-elements": (f", ,{RESULT},,", RESULT),
    "two-headers": ([f"{JSON};q=0.5", RESULT], RESULT),
    "quoted-comma": (f'text/plain; a=", {JSON}", {RESULT};q=0.5', RESULT),
    "equal": (f"{JSON}, {RESULT}", RESULT, JSON),
    "any": ("*/*", RESULT, JSON),
    "any-application": ("application/*", RESULT, JSON),
    "any-but-rather-json": (f"*/*;q=0.1, {JSON}", JSON),
    "any-but-rather-results": (f"*/*;q=0.1, {RESULT}", RESULT),
    "any-but-no-results": (f"*/*, {RESULT};q=0", JSON),
    "any-but-no-json": (f"{JSON};q=0, */*", RESULT),
    "specific-before-range": (f"application/*;q=0.9, {JSON};q=0.1", RESULT),
    "of-a-browser": ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", RESULT, JSON),
    "unknown-types-first": (f"application/cbor, text/plain, {RESULT};q=0.1", RESULT),
}, negotiates)

ALIEN = {
    "unknown-type": "text/plain",
    "similar-type": "application/jsonx, application/graphql+json",
    "type-refused": f"{RESULT};q=0",
    "all-refused": "*/*;q=0",
    "range-of-others": "image/*",
}


def answers_aliens(server, accept):
    answer = server.post(PLAIN, accept)
    if answer.status == 406:
        demand(b'"data"' not in answer.body, answer)
    else:
        succeeded(answer, TYPENAME)


each("alien", "MUST", "Body", "answers 406, or as if without Accept, if no type is acceptable: {}", ALIEN,
     answers_aliens)
each("alien-406", "SHOULD", "Body", "answers 406 if neither its types nor application/json are acceptable: {}", ALIEN,
     lambda server, accept: demand(server.post(PLAIN, accept).status == 406, server.post(PLAIN, accept)))


@check("SHOULD", "Body", "answers 406 or lines to a client of lines of JSON alone, which only several results are")
def alien_lines(server):
    answer = server.post(PLAIN, "application/jsonl")
    demand(answer.status == 406 or answer.media_type == "application/jsonl", answer)


@check("MUST", "Body", "answers a client of application/json alone, and names that type with a 2xx")
def legacy_data(server):
    answer = server.post(PLAIN, JSON)
    succeeded(answer, TYPENAME)
    demand(answer.media_type == JSON, answer)


@check("SHOULD", "Body", "answers a client of application/json alone with a 2xx and that type if data has errors")
def legacy_partial(server):
    answer = server.post({"query": REFUSED}, JSON)
    demand(200 <= answer.status < 300 and answer.media_type == JSON and "data" in result(answer), answer)


each("legacy", "MUST", "Status Codes", "answers a client of application/json alone with a 4xx if data is absent: {}", {
    name: body for name, (body, _) in FAILURES.items()
}, lambda server, body: failed(server.post(body, JSON)), LEGACY)


each("no-accept", "MUST", "Status Codes", "answers a 4xx without Accept if data is absent: {}", {
    name: body for name, (body, _) in FAILURES.items()
}, lambda server, body: failed(server.post(body, None)), LEGACY)


def answers_legacy(server, case):
    body, status = case
    answer = server.post(body, JSON)
    failed(answer, status)
    demand(answer.media_type == RESULT, answer)


each("legacy-status", "SHOULD", "Body", f"gives a client of application/json alone the status and type of {RESULT}: "
     "{}", FAILURES, answers_legacy, LEGACY)


# Validation, Execution


def applies_rules(server, documents):
    for document in documents:
        name = "a" if "query a" in document else None
        answer = server.post({"query": document, "operationName": name})
        demand(answer.status >= 400 and "data" not in result(answer), f"{document} {answer}")


each("rules", "SHOULD", "Validation", "applies the rules of GraphQL about {}", RULES, applies_rules)


@check("MAY", "Validation", "refuses a valid document by rules of its own, such as a limit on depth")
def validation_more(server):
    document = "{ __schema { types " + "{ fields { type " * 60 + "{ name }" + " } }" * 60 + " } }"
    failed(server.post({"query": document}))


each("executes", "MUST", "Execution", "follows the algorithm of GraphQL: {}", {
    "only-operation": ({"query": "query a { a: __typename }"}, {"a": "Query"}),
    "defaults": ({"query": "query($a: Boolean! = false) { __typename a: __typename @include(if: $a) }"}, TYPENAME),
    "null-is-no-default": ({"query": "query($text: String = \"a\") { shareDraft(channel: SMS, to: $text) { to } }",
                            "variables": {"text": None}}, {"shareDraft": {"to": []}}),
    "unknown-variables": ({**PLAIN, "variables": {"unknown": 1}}, TYPENAME),
}, lambda server, case: succeeded(server.post(case[0]), case[1]))


# Status Codes


@check("SHOULD", "Status Codes", "answers 200 to data without errors, null or not")
def status_data(server):
    succeeded(server.post(PLAIN), TYPENAME)
    succeeded(server.post({"query": '{ node(id: "none") { id } }'}), {"node": None})


@check("MUST", "Status Codes", "answers a 2xx to data with errors")
def status_partial(server):
    answer = server.post({"query": REFUSED})
    demand(200 <= answer.status < 300 and result(answer)["data"] == {"createTextPost": None}, answer)


@check("SHOULD", "Status Codes", "answers 294 to data with errors", STATUSES)
def status_294(server):
    answer = server.post({"query": REFUSED})
    demand(answer.status == 294 and "errors" in result(answer), answer)


@check("SHOULD", "Status Codes", "answers 294 to errors with data that is null", STATUSES)
def status_294_null(server):
    answer = server.post({"query": REFUSED, "onError": "HALT"})
    value = result(answer)
    if "data" not in value or value["data"] is not None:
        raise Untold("data is not null")
    demand(answer.status == 294, answer)


each("status-method", "SHOULD", "Status Codes", "answers 405 to {}", {
    method: method for method in ("PUT", "DELETE", "PATCH", "TRACE", "BREW")
}, lambda server, method: demand(
    server.send(method, [("Content-Type", JSON), ("Accept", RESULT)], b"").status == 405,
    server.send(method, [("Content-Type", JSON), ("Accept", RESULT)], b"")))


@check("MUST", "Status Codes", "lists POST in Allow with 405")
def status_allow(server):
    for method in ("PUT", "DELETE"):
        answer = server.send(method, [("Content-Type", JSON), ("Accept", RESULT)], b"")
        if answer.status == 405:
            methods = [name.strip() for name in answer.headers.get("allow", "").split(",")]
            demand("POST" in methods and method not in methods, answer.headers.get("allow"))


def waits(server, message):
    began = time.monotonic()
    with server.connect(20) as connection:
        connection.sendall(message)
        try:
            answer = receive(connection)
        except Short as error:
            if time.monotonic() - began > 19:
                raise Untold("the server waits longer than 20 seconds") from error
            raise
    demand(answer.status == 408, answer)


@check("SHOULD", "Status Codes", "answers 408 to a header that does not end in time")
def status_408_header(server):
    waits(server, server.head("POST", [("Content-Type", JSON), ("Accept", RESULT)])[:-2])


@check("SHOULD", "Status Codes", "answers 408 to a body that does not end in time")
def status_408_body(server):
    waits(server, server.head("POST", [("Content-Type", JSON), ("Accept", RESULT), ("Content-Length", 99)]) + b"{")


def first_refusal(server, message):
    """The response to the shortest of some messages that the server does not answer with 200."""
    for size in (4_000, 20_000, 100_000, 1_000_000):
        answer = server.exchange(message(size))
        if answer.status != 200:
            return answer
    raise Untold("a million bytes are not too many")


def too_long_url(server, size):
    target = f"{server.path}?query=%7B__typename%7D%23" + "a" * size
    return server.head("GET", [("Accept", RESULT), ("GraphQL-Require-Preflight", "1")], target)


def too_large_header(server, size, fields=1):
    body = json.dumps(PLAIN).encode()
    padding = [(f"X-Padding-{number}", "a" * (size // fields)) for number in range(fields)]
    return server.head("POST", [("Content-Type", JSON), ("Accept", RESULT), ("Content-Length", len(body)), *padding]) \
        + body


@check("SHOULD", "Status Codes", "answers 414 to a URL that is too long")
def status_414(server):
    failed(first_refusal(server, lambda size: too_long_url(server, size)), 414)


@check("SHOULD", "Status Codes", "answers 431 to a header that is too large")
def status_431(server):
    failed(first_refusal(server, lambda size: too_large_header(server, size)), 431)


@check("SHOULD", "Status Codes", "answers 431 to headers that are too large together")
def status_431_together(server):
    failed(first_refusal(server, lambda size: too_large_header(server, size, 50)), 431)


@check("SHOULD", "Status Codes", "answers 413 to a body that is too large")
def status_413(server):
    head = server.head("POST", [("Content-Type", JSON), ("Accept", RESULT), ("Content-Length", 10 ** 12)])
    failed(server.exchange(head + b'{"query": "'), 413)


@check("SHOULD", "Status Codes", "answers 413 to chunks that are too large together")
def status_413_chunks(server):
    head = server.head("POST", [("Content-Type", JSON), ("Accept", RESULT), ("Transfer-Encoding", "chunked")])
    body = b'{"query": "{ __typename }", "unknown": "' + b"a" * 4_000_000 + b'"}'
    answer = server.exchange(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    if answer.status == 200:
        raise Untold("four million bytes are not too many")
    failed(answer, 413)


each("status", "SHOULD", "Status Codes", "answers 400 to a document that cannot be parsed: {}", {
    "unfinished": "{",
    "empty": "",
    "comment-only": "# { __typename }",
    "too-many-braces": "{ __typename }}",
    "unfinished-string": '{ node(id: "a) { id } }',
    "no-token": "{ __typename ? }",
    "unknown-keyword": "ask { __typename }",
}, lambda server, document: failed(server.post({"query": document}), 400))

each("status", "SHOULD", "Status Codes", "answers 422 to a document that is not valid: {}", {
    "unknown-field": "{ nothing }",
    "unknown-argument": "{ users(nothing: 1) { nodes { id } } }",
    "unknown-variable": "{ users(first: $n) { nodes { id } } }",
    "unknown-fragment": "{ ...a }",
    "value-of-other-type": '{ users(first: "one") { nodes { id } } }',
}, lambda server, document: failed(server.post({"query": document}), 422), STATUSES)

each("status", "SHOULD", "Status Codes", "answers 422 if the operation cannot be determined: {}", {
    "name-unknown": {**PLAIN, "operationName": "a"},
    "name-of-none-of-several": {"query": TWO, "operationName": "three"},
    "several-and-no-name": {"query": TWO},
    "several-and-null": {"query": TWO, "operationName": None},
    "no-operation": {"query": "fragment a on Query { __typename }"},
}, lambda server, body: failed(server.post(body), 422), STATUSES)

each("status", "SHOULD", "Status Codes", "answers 422 if variables cannot be coerced: {}", {
    "string-for-int": {"query": USERS, "variables": {"n": "1"}},
    "fraction-for-int": {"query": USERS, "variables": {"n": 1.5}},
    "large-for-int": {"query": USERS, "variables": {"n": 2 ** 31}},
    "list-for-int": {"query": USERS, "variables": {"n": [1, 2]}},
    "required-absent": {"query": "query($i: ID!) { node(id: $i) { id } }"},
    "required-null": {"query": "query($i: ID!) { node(id: $i) { id } }", "variables": {"i": None}},
    "unknown-enum-value": {"query": "query($o: UserOrder!) { users(orderBy: $o, first: 1) { nodes { id } } }",
                           "variables": {"o": "NOTHING"}},
    "two-of-one-of": {"query": "query($b: UserLookup!) { user(by: $b) { id } }",
                      "variables": {"b": {"id": "a", "username": "b"}}},
    "unknown-input-field": {"query": "query($b: UserLookup!) { user(by: $b) { id } }", "variables": {"b": {"a": "b"}}},
}, lambda server, body: failed(server.post(body), 422), STATUSES)


@check("SHOULD", "Status Codes", "answers 401 or 403 to a client that may not send requests")
def status_forbidden(server):
    failed(server.post(PLAIN, headers=STRANGER), 401, 403)


@check("MUST", "Status Codes", "answers a 4xx or 5xx to the hash of an unknown document, as there is no data")
def status_hash(server):
    failed(server.post(HASH))


@check("MUST", "Status Codes", "answers a 4xx or 5xx to the hash of an unknown document in a URL")
def status_hash_url(server):
    failed(server.get({"extensions": json.dumps(HASH["extensions"])}))


# Security, which is not normative


SIMPLE = {
    "a-form": ("application/x-www-form-urlencoded", b"query=%7B__typename%7D"),
    "a-form-with-files": ("multipart/form-data; boundary=a",
                          b'--a\r\nContent-Disposition: form-data; name="operations"\r\n\r\n'
                          b'{"query": "{ __typename }"}\r\n--a\r\nContent-Disposition: form-data; name="map"\r\n\r\n{}'
                          b"\r\n--a--\r\n"),
    "plain-text": ("text/plain", b'{"query": "{ __typename }"}'),
    "json-disguised-as-text": ("text/plain; a=application/json", b'{"query": "{ __typename }"}'),
}
each("security", "MAY", "Security", "does not execute what a page of another site may send unasked: {}", SIMPLE,
     lambda server, case: failed(server.post(case[1], "*/*", case[0])))


@check("MAY", "Security", "does not permit an unknown site what it asks for in a preflight")
def security_preflight(server):
    answer = server.send("OPTIONS", [("Origin", "https://other.example"), ("Access-Control-Request-Method", "POST"),
                                     ("Access-Control-Request-Headers", "content-type")])
    allowed = answer.headers.get("access-control-allow-origin")
    demand(allowed not in ("*", "https://other.example"), allowed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("--profile", default="2026", choices=("2026", "auto", "audit"))
    options = parser.parse_args()
    server = Server(options.url)
    short = binding = 0
    for name, level, section, description, left, run in checks:
        seen = ""
        if options.profile in left:
            state = "left"
        else:
            try:
                run(server)
                state = "ok"
            except Untold as reason:
                state, seen = "untold", str(reason)
            except Exception as problem:  # pylint: disable=broad-except
                state, seen = "SHORT", str(problem) if isinstance(problem, Short) else repr(problem)
                short += 1
                binding += level != "MAY"
        print(f"{state:6} {name:34} {level:10} {section}: {description}" + (f": {seen}" if seen else ""), flush=True)
    print(f"{len(checks)} checks, {short} short")
    raise SystemExit(1 if binding else 0)


if __name__ == "__main__":
    main()
