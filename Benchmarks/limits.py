"""Goes to each limit of docs/reference/limits.md, at a running server: a request at the limit is accepted, and one beyond
it gets the response of the table. A row without a probe, and a code that no response had, is reported.

Limits are those of the server's defaults, but where the figure is too large for this machine or too long for a script;
the option that was given instead is shown.
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import select
import socket
import struct
import subprocess
import tempfile
import threading
import time
import zlib

import attack
import faults
import graph

# An answer of 3.6 MB.
LARGE = ("{ users(first: 100) { nodes { followers(first: 90) { nodes { %s } } } } }"
         % " ".join(f"a{n}x: bio b{n}x: username" for n in range(15)))
PROBES = {}


def row(limit, *options, trusts=True):
    """What goes to a row of the table; options of the server, and whether it believes what we say of our address."""
    def decorate(probe):
        probe.options, probe.trusts = options, trusts
        PROBES[limit] = probe
        return probe
    return decorate


class Door:
    """A server, and everything that can be said to it."""

    addresses = iter(range(1, 1 << 20))

    def __init__(self, port, cluster):
        self.port, self.cluster = port, cluster

    @classmethod
    def address(cls):
        number = next(cls.addresses)
        return f"198.18.{number >> 8}.{number & 255}"

    def connect(self, receive=None):
        one = socket.socket()
        if receive:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        one.settimeout(90)
        one.connect(("127.0.0.1", self.port))
        return one

    def said(self, one):
        """The next answer's status, code and head; 0 where there is none."""
        answer = http.client.HTTPResponse(one)
        try:
            answer.begin()
            return self.read(answer)
        except (OSError, http.client.HTTPException):
            return 0, "", {}

    @staticmethod
    def read(answer):
        text = answer.read()
        code = re.search(rb'"code":"([A-Z_]+)"', text)
        return answer.status, code[1].decode() if code else "", {**answer.headers, "text": text}

    def raw(self, text):
        with contextlib.closing(self.connect()) as one:
            with contextlib.suppress(OSError):
                one.sendall(text)
            return self.said(one)

    def post(self, query, variables=None, address=None, token=None, path="/graphql", body=None, headers=None):
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        headers = {"Content-Type": "application/json", "X-Forwarded-For": address or self.address(), **(headers or {})}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            client.request("POST", path, body or json.dumps({"query": query, "variables": variables or {}}), headers)
            return self.read(client.getresponse())
        except (OSError, http.client.HTTPException):
            return 0, "", {}
        finally:
            client.close()

    def large(self):
        """The bytes of a request for a large answer, each from somebody else."""
        body = json.dumps({"query": LARGE}).encode()
        return (f"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Forwarded-For: "
                f"{self.address()}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body

    def both(self, within, beyond):
        """Codes of something beyond a limit, unless what is within is refused."""
        status, code, head = within
        if status != 200 or code:
            return [f"within: {status} {code or head.get('text', b'')[:200]}"]
        return [beyond[1] or str(beyond[0])]

    def documents(self, within, beyond, **more):
        return self.both(self.post(within, **more), self.post(beyond, **more))


def head(size, fields=0, line=0):
    text = "GET /live" + "?" + "x" * line + " HTTP/1.1\r\nHost: localhost\r\n" + "".join(f"X{n}: 1\r\n" for n in range(fields))
    return (text + "Long: " + "x" * max(0, size - len(text) - 10) + "\r\n\r\n").encode()


def seconds(text):
    return int(re.match(r"(\d+)", text)[1])


def about(name, wanted, seen, slack=3):
    return name if wanted - 0.5 <= seen <= wanted + slack else f"{name} after {seen:.1f} s, not {wanted}"


# MARK: Requests


@row("request header")
def _(door, limit):
    found = []
    for within, beyond in ((head(16_300), head(16_500)), (head(0, 98), head(0, 101)), (head(0, 0, 8_000), head(0, 0, 8_200))):
        found += door.both(door.raw(within), door.raw(beyond))
    return found


@row("time for a request header")
@row("time for a request body")
def _(door, limit):
    if "1 KiB" not in limit:
        began = time.monotonic()
        status, code, _ = door.raw(b"GET /live HTTP/1.1\r\nHost")
        return [about(code, seconds(limit), time.monotonic() - began)]
    found = []
    # Four kilobytes a second are enough until the time is over, a tenth of one is not.
    for rate, wanted in ((4096, seconds(limit)), (100, 2)):
        with contextlib.closing(door.connect()) as one:
            one.sendall(b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n")
            began = time.monotonic()
            while not select.select([one], [], [], 0.25)[0]:
                one.sendall(b" " * (rate // 4))
            found.append(about(door.said(one)[1], wanted, time.monotonic() - began))
    return found


@row("request body")
def _(door, limit):
    def body(size):
        return '{"query": "{ __typename }"}'.ljust(size)
    size = int(limit.split()[0])
    return door.both(door.post("", body=body(size)), door.post("", body=body(size + 1)))


@row("connections", "--maximum-connections", "40")
def _(door, limit):
    opened = [door.connect() for _ in range(40)]
    time.sleep(0.5)
    found = [door.raw(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")[1]]
    began = time.monotonic()
    # Until there is room again.
    select.select(opened, [], [], 90)
    found.append(about("idle ones are closed", 4, time.monotonic() - began))
    for one in opened:
        one.close()
    return found


@row("connections of one address", trusts=False)
def _(door, limit):
    opened = [door.connect() for _ in range(int(limit))]
    time.sleep(0.5)
    opened[0].sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    found = door.both(door.said(opened[0]), door.raw(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    for one in opened:
        one.close()
    return found


@row("idle time of a connection")
def _(door, limit):
    with contextlib.closing(door.connect()) as one:
        one.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        door.said(one)
        began = time.monotonic()
        return [about("it is closed" if one.recv(1) == b"" else "it is told", seconds(limit), time.monotonic() - began)]


@row("requests of a connection")
def _(door, limit):
    with contextlib.closing(door.connect()) as one:
        for number in range(int(limit)):
            one.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = door.said(one)[2]
            if answer.get("Connection") == "close":
                return ["Connection: close"] if str(number + 1) == limit else [f"after {number + 1}"]
    return ["nothing"]


def frame(kind, flags=0, stream=0, payload=b""):
    """A frame of HTTP/2 (RFC 9113, 4.1)."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def opening(stream, flags=4):
    """A POST whose body follows; its fields as HPACK's literals."""
    fields = {b":method": b"POST", b":scheme": b"http", b":path": b"/graphql", b":authority": b"a",
              b"content-type": b"application/json"}
    block = b"".join(
        b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value for name, value in fields.items())
    return frame(1, flags, stream, block)


@contextlib.contextmanager
def streams(door):
    """A connection of HTTP/2 and the function that reads its next frame: kind, stream and payload."""
    with contextlib.closing(door.connect()) as one:
        one.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4))
        file = one.makefile("rb")

        def read():
            try:
                known = file.read(9)
                return known[3], struct.unpack(">I", known[5:])[0], file.read(int.from_bytes(known[:3], "big"))
            except (OSError, IndexError, struct.error):
                return None, 0, b""
        yield one, read


def flooded(door, limit, text):
    """Whether the connection lasts at a limit, and is closed beyond it."""
    with streams(door) as (one, read):
        # What begins the connection, and the PING, count as well. The last ones are beyond what is given back each
        # second meanwhile.
        count = int(limit.split()[0])
        with contextlib.suppress(OSError):
            for number in range(count - 5):
                one.sendall(text(number))
            one.sendall(frame(6, 0, 0, b"are here"))
            while (known := read())[0] != 6:
                if known[0] is None:
                    return ["it is closed within the limit"]
            for number in range(count, 20 * count):
                one.sendall(text(number))
        while (known := read())[0] is not None:
            pass
        return ["it is closed"]


@row("streams of a connection of HTTP/2")
def _(door, limit):
    with streams(door) as (one, read):
        for number in range(int(limit) + 1):
            one.sendall(opening(1 + 2 * number))
        while (known := read())[0] not in (3, None):
            pass
        kind, stream, payload = known
        if stream != 1 + 2 * int(limit):
            return [f"stream {stream}"]
        return ["REFUSED_STREAM" if payload == struct.pack(">I", 7) else str(payload)]


@row("request bodies of a connection of HTTP/2, in total")
def _(door, limit):
    with streams(door) as (one, read):
        window, part = 65_535, b" " * 16_000
        most = int(limit.split()[0])
        for number in range(2 * most // 64_000):
            one.sendall(opening(1 + 2 * number))
            for _ in range(4):
                while window < len(part):
                    kind, stream, payload = read()
                    if kind is None:
                        return ["it is closed"]
                    if kind == 8 and stream == 0:
                        window += struct.unpack(">I", payload)[0]
                    if kind == 0 and (code := re.search(rb'"code":"([A-Z_]+)"', payload)):
                        within = number * 64_000 > most - 64_000 - (1 << 20)
                        return [code[1].decode() if within else f"after {number * 64_000} bytes"]
                window -= len(part)
                one.sendall(frame(0, 0, 1 + 2 * number, part))
        return ["nothing"]


@row("streams of HTTP/2 that a client resets")
def _(door, limit):
    return flooded(door, limit, lambda number: opening(1 + 2 * number, 4) + frame(3, 0, 1 + 2 * number, b"\0\0\0\x08"))


@row("frames of HTTP/2 without content: PING, SETTINGS, PRIORITY, empty DATA")
def _(door, limit):
    return flooded(door, limit, lambda number: frame(2, 0, 1, b"\0\0\0\0\1"))


@row("response that is not read")
def _(door, limit):
    with contextlib.closing(door.connect(receive=4096)) as one:
        one.sendall(door.large())
        select.select([one], [], [], 30)
        began = time.monotonic()
        poll = select.poll()
        poll.register(one, 0)
        ended = poll.poll(60_000)
        return [about("it is reset" if ended else "nothing", seconds(limit), time.monotonic() - began)]


@row("responses that are not read, in total", "--maximum-buffered-bytes", "16777216")
def _(door, limit):
    opened = []
    for _ in range(40):
        opened.append(door.connect(receive=4096))
        opened[-1].sendall(door.large())
        time.sleep(0.1)
    found = door.both(door.post("{ __typename }"), door.post(LARGE))
    for one in opened:
        one.close()
    return found


# MARK: Documents


@row("document")
def _(door, limit):
    size = int(limit.split()[0])
    return door.documents("{ __typename }".ljust(size, ","), "{ __typename }".ljust(size + 1, ","))


@row("tokens of a document")
def _(door, limit):
    names = "__typename " * (int(limit) - 5)
    return door.documents("{ viewer { %s} }" % names, "{ viewer { %s a } }" % names)


@row("nesting of a document or of JSON")
def _(door, limit):
    def query(levels):
        return "query($v: [ID!]! = %s1%s) { __typename }" % ("[" * levels, "]" * levels)
    within, beyond = door.post(query(60)), door.post(query(66))
    return [beyond[1] if within[1] == "GRAPHQL_VALIDATION_FAILED" else f"within: {within[:2]}"]


@row("variables")
def _(door, limit):
    query, size = "query($a: Boolean! = true) { __typename @include(if: $a) }", int(limit.split()[0])
    def body(size):
        rest = json.dumps({"query": query, "variables": {"b": "x" * (size - len('{"b":""}'))}}, separators=(",", ":"))
        return rest
    return door.both(door.post("", body=body(size)), door.post("", body=body(size + 1)))


@row("depth of fields")
def _(door, limit):
    def query(levels):
        return "{ users(first: 1) { nodes { " + "followers(first: 1) { nodes { " * ((levels - 3) // 2) + (
            "id" if levels % 2 else "location { id }") + " } }" * ((levels - 3) // 2) + " } } }"
    return door.documents(query(int(limit) - 1), query(int(limit) + 1))


@row("aliases")
def _(door, limit):
    def query(count):
        return "{ viewer { %s } }" % " ".join(f"a{n}: __typename" for n in range(count))
    return door.documents(query(int(limit)), query(int(limit) + 1))


@row("root fields")
def _(door, limit):
    most = int(limit)
    names = ["__typename"] * most
    def mutations(count):
        return "mutation { %s }" % " ".join(
            f'a{n}: unfollowUsers(userIds: []) {{ __typename }}' for n in range(count))
    return door.documents("{ %s }" % " ".join(names), "{ %s x: __typename }" % " ".join(names)) + door.documents(
        mutations(most), mutations(most + 1), token="demo-marisol")


@row("directives")
def _(door, limit):
    at_a_place, of_all = map(int, re.findall(r"\d+", limit))
    def query(count, fields=1):
        return "{ viewer { %s } }" % " ".join(
            ["__typename " + " ".join(["@include(if: true)", "@skip(if: false)"][n % 2] for n in range(count))] * fields)
    # A directive may stand at a place once, so that what is within is told so and not of a limit.
    return [door.post(query(at_a_place + 1))[1]] + door.documents(query(2, of_all // 2), query(2, of_all // 2 + 1))


@row("selections, with fragments expanded")
def _(door, limit):
    def query(count):
        return "{ viewer { %s } } fragment F on Viewer { %s }" % ("...F " * count, "__typename " * 49)
    return door.documents(query(100), query(110), token="demo-marisol")


@row("nested lists of the schema's fields")
def _(door, limit):
    def query(levels):
        return "{ __schema { types { " + "fields { type { " * levels + "name" + " } }" * levels + " } } }"
    return door.documents(query(int(limit)), query(int(limit) + 1))


# Without more of others it is not come to.
@row("comparisons of fields that may have to be merged", "--maximum-tokens", "100000", "--maximum-selections", "100000",
     "--maximum-document-bytes", "500000")
def _(door, limit):
    # One name again and again, with as much below it.
    def query(count, inner):
        return "{ viewer { %s } }" % " ".join(["user { %s }" % " ".join(["id"] * inner)] * count)
    return door.documents(query(20, 60), query(300, 60))


@row("requests in one body")
def _(door, limit):
    one = {"query": "{ __typename }"}
    return door.both(door.post("{ __typename }"), door.post("", body=json.dumps([one] * (int(limit) + 1))))


@row("sets of variables in one request")
def _(door, limit):
    def body(count):
        return json.dumps({"query": "query($on: Boolean!) { __typename @include(if: $on) }", "variables": [{"on": True}] * count})
    return door.both(door.post("", body=body(int(limit))), door.post("", body=body(int(limit) + 1)))


# MARK: What is asked for


@row("page")
def _(door, limit):
    size = int(limit.split()[0])
    return door.documents("{ users(first: %d) { nodes { id } } }" % size, "{ users(first: %d) { nodes { id } } }" % (size + 1))


@row("IDs in one list")
def _(door, limit):
    def query(count):
        return "{ nodes(ids: [%s]) { id } }" % " ".join('"AAAAAAAAAAA"' for _ in range(count))
    found = door.post(query(int(limit)))
    return [door.post(query(int(limit) + 1))[1] if found[0] == 200 else f"within: {found[:2]}"]


FILTERS = ("--schema", "Benchmarks/filters", "--namespace", "filters")
FILTERED = ("CREATE SCHEMA IF NOT EXISTS filters; CREATE TABLE IF NOT EXISTS filters.person "
            "(id int PRIMARY KEY, name text NOT NULL, friend_id int)")


def people(argument):
    return "{ people(%s) { totalCount } }" % argument


def repeated(text, count):
    return "[%s]" % ", ".join([text] * count)


@row("a filter", *FILTERS)
def _(door, limit):
    def nested(count):
        return "{friend: " * count + "{}" + "}" * count

    def both(text, most):
        return door.documents(*(people("filter: " + text(count)) for count in (most, most + 1)))
    conditions, levels, alternatives = map(int, re.findall(r"\d+", limit))
    one = '{name: {startsWith: "a"}}'
    return [*both(lambda count: "{and: %s}" % repeated(one, count), conditions), *both(nested, levels),
            *both(lambda count: "{or: %s}" % repeated(one, count), alternatives)]


@row("conditions in a field's lists of input objects", *FILTERS)
def _(door, limit):
    # An object and its condition.
    most = int(limit.split(",")[0]) // 2
    return door.documents(*(people("anyOf: " + repeated('{name: "a"}', count)) for count in (most, most + 1)))


@row("rows of one insert", *FILTERS)
def _(door, limit):
    def insert(count, first):
        rows = ", ".join('{id: %d, name: "a"}' % number for number in range(first, first + count))
        return "mutation { insertPeople(input: [%s]) { count userErrors { code } } }" % rows
    return door.documents(insert(int(limit), 1), insert(int(limit) + 1, 1_000))


@row("orders of a list", *FILTERS)
def _(door, limit):
    most, steps = map(int, re.findall(r"\d+", limit))

    def nested(count):
        return "orderBy: [%s]" % ("{friend: " * count + "{name: ASC}" + "}" * count)
    lists = ("orderBy: " + repeated("{name: ASC}", count) for count in (most, most + 1))
    return [*door.documents(*map(people, lists)), *door.documents(people(nested(steps)), people(nested(steps + 1)))]


@row("aggregates and groups of an operation", *FILTERS, "--rate-limit-address", "off")
def _(door, limit):
    # Each in 70 rows is within 10,000 points, and in 100 rows with the rows themselves it is not.
    def both(text):
        query = "{ people(first: %%d) { nodes { friends { %s } } } }" % text
        return door.documents(query % 70, query % 100)
    return [*both("aggregates { count name { max } }"), *both("groups(by: {name: true}) { aggregates { count } }")]


@row("elements of a response")
def _(door, limit):
    query = "{ users(first: 100) { nodes { followers(first: %d) { totalCount nodes { __typename } } } } }"
    return door.documents(query % 90, query % 100)


@row("cost of an operation")
def _(door, limit):
    query = "{ users(first: 100) { nodes { posts(first: %d) { nodes { author { id } } } } } }"
    # Half of it is what an address has.
    return door.documents(query % 4, query % 50, token="demo-marisol")


@row("response", "--maximum-response-bytes", "4000")
def _(door, limit):
    query = "{ users(first: %d) { nodes { " + "x" * 200 + ": id } } }"
    made = door.post('mutation { createTextPost(input: {body: "%s"}) { textPost { body } } }' % ("x" * 4_000), token="demo-marisol")
    return door.documents(query % 5, query % 50) + [made[1]]


@row("count", "--maximum-count", "5")
def _(door, limit):
    _, _, answer = door.post('{ users(first: 0, search: "a") { totalCount isTotalCountExact } }')
    said = json.loads(answer["text"])["data"]["users"]
    return ["isTotalCountExact is false" if said == {"totalCount": 5, "isTotalCountExact": False} else str(said)]


def points(door, limit, **who):
    most, rate = map(int, limit.split("/"))
    query = "{ users(first: 100) { nodes { posts(first: 1) { nodes { id } } } } }"
    # Not known before, that there is an account and what is left of it.
    _, _, answer = door.post(query, **who)
    cost = json.loads(answer["text"])["extensions"]["cost"]
    throttle = cost["throttle"]
    found = ["`extensions.cost` has the balance"] if (throttle["maximum"], throttle["restoreRate"]) == (most, rate) else [str(cost)]
    spent = cost["actual"]
    while spent < 4 * most:
        status, code, answer = door.post(query, **who)
        if code:
            if int(answer.get("Retry-After", 0)) < 1 or status != 429:
                return found + [f"{status} without Retry-After"]
            return found + [code]
        spent += json.loads(answer["text"])["extensions"]["cost"]["actual"]
    return found + [f"{spent} were spent"]


@row("rate-limit points of a viewer")
def _(door, limit):
    return points(door, limit, token="demo-marisol")


@row("rate-limit points of an address")
def _(door, limit):
    return points(door, limit, address=door.address())


@row("wrong passwords")
def _(door, limit):
    def sign_in(name, address=None):
        return door.post('mutation { signIn(username: "%s", password: "wrong horse") { userErrors { code } } }' % name, address=address)[1]
    tries = int(limit.split()[0])
    of_a_name = [sign_in("marisol") for _ in range(tries + 1)]
    address = door.address()
    names = door.cluster.sql("SELECT username FROM app_user WHERE username <> 'marisol' ORDER BY id LIMIT 21").split()
    of_an_address = [sign_in(name, address) for name in names]
    if "RATE_LIMITED" in of_a_name[:tries] + of_an_address[:20]:
        return [f"{of_a_name} {of_an_address}"]
    return [of_a_name[-1], of_an_address[-1]]


# MARK: Waiting


@row("time of a statement", "--statement-timeout", "50ms", "--queue-timeout", "50ms")
def _(door, limit):
    return door.documents("{ __typename }", attack.DEAR)


@row("time of an operation", "--operation-timeout", "50ms", "--statement-timeout", "50ms", "--queue-timeout", "50ms")
def _(door, limit):
    return door.documents("{ __typename }", attack.DEAR)


@contextlib.contextmanager
def locked(door, table):
    holder = subprocess.Popen(
        ["psql", "-X", "-q", "-h", door.cluster.folder, "-U", "sociograph", "-d", "sociograph"], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True)
    holder.stdin.write(f"BEGIN; LOCK graph.{table}; SELECT 1;\n")
    holder.stdin.flush()
    holder.stdout.readline()
    yield
    holder.stdin.write("COMMIT;\n")
    holder.stdin.close()
    holder.wait()


@row("time of a mutation's field", "--mutation-timeout", "300ms")
def _(door, limit):
    with locked(door, "post"):
        return [door.post('mutation { createTextPost(input: {body: "late"}) { textPost { id } } }', token="demo-marisol")[1]]


def at_once(door, count, address=None):
    """Answers of dear requests that are sent at the same time."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return [f.result()[1] for f in [pool.submit(door.post, attack.DEAR, address=address) for _ in range(count)]]


NARROW = ("--loops", "1", "--rate-limit-address", "off", "--queue-timeout")


@row("wait for a connection, or for a new document to be planned", *NARROW, "20ms", "--pool-size", "2")
def _(door, limit):
    return sorted({code for code in at_once(door, 8) if code})


@row("one client's share of an event loop's connections, for expensive or unmeasured statements and mutations", *NARROW,
     "5s", "--pool-size", "4", "--statement-timeout", "5s")
def _(door, limit):
    address, most, is_over = door.address(), [0], threading.Event()
    def look():
        while not is_over.is_set():
            most.append(int(door.cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%follow%'"
                                             " AND pid <> pg_backend_pid()")))
    watch = threading.Thread(target=look)
    watch.start()
    codes = at_once(door, 6, address)
    is_over.set()
    watch.join()
    return ["it waits" if max(most) == 2 and not any(codes) else f"{max(most)} at once, {codes}"]


@row("one client's share of a full queue, and of the new documents that wait", *NARROW, "5s", "--pool-size", "2")
def _(door, limit):
    result = []
    crowd = threading.Thread(target=lambda: result.extend(at_once(door, 80, door.address())))
    crowd.start()
    time.sleep(0.3)
    other = door.post(attack.DEAR)
    crowd.join()
    return sorted({code for code in result if code}) + ([] if not other[1] else [f"others: {other[1]}"])


# MARK: Pictures


def png(width, height, size=0):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = zlib.compress(bytes(1 + (width + 7) // 8) * height)
    text = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)))
    end = chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    rest = size - len(text) - len(end) - 12
    return text + (chunk(b"teXt", bytes(rest)) if rest > 0 else b"") + end


def photo(door, picture):
    return door.post("", token="demo-marisol", path="/photos", body=picture)[1]


@row("uploaded image", "--photos", "PHOTOS")
def _(door, limit):
    size = int(limit.split()[0])
    within = photo(door, png(8, 8, size))
    return [photo(door, png(8, 8, size + 1)) if not within else f"within: {within}"]


@row("pixels of an uploaded image", "--photos", "PHOTOS")
def _(door, limit):
    within = photo(door, png(5_000, int(limit) // 5_000))
    return [photo(door, png(5_000, int(limit) // 5_000 + 1)) if not within else f"within: {within}"]


# MARK: The table

PAGE = "docs/reference/limits.md"


def table():
    """Rows of the page's table: limit, is, option, beyond."""
    text = open(PAGE).read()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
    return rows[1:]


def go(door, limit, size, beyond):
    """What was seen of a row, and whether it is what the row says."""
    try:
        seen = PROBES[limit](door, size)
    except Exception as error:
        seen = [f"{type(error).__name__}: {error}"]
    wanted = set(re.findall(r"`([A-Z_]+)`", beyond)) or {beyond.replace("the connection", "it").replace("`", "")}
    if "extensions.cost" in beyond:
        wanted.add(beyond.split("; ")[1])
    if "idle ones" in size:
        wanted.add("idle ones are closed")
    return seen, set(seen) == wanted


def main():
    parser = argparse.ArgumentParser(
        prog="script/attack --limits", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=18085)
    parser.add_argument("--rows", default="", help="parts of the names of those to go to; all without")
    parser.add_argument("--log", help="where the servers' words go")
    options = parser.parse_args()
    rows = [row for row in table() if any(part in row[0] for part in options.rows.split(","))]
    with tempfile.TemporaryDirectory(prefix="sociograph-limits-") as folder:
        os.chmod(folder, 0o755)
        world = faults.World(options, folder)
        try:
            failed = run(options, world, rows)
        finally:
            world.close()
    raise SystemExit(1 if failed else 0)


def run(options, world, rows):
    groups = {}
    results = {}
    for number, (limit, size, _, beyond) in enumerate(rows):
        limit = limit.split("; behind")[0]
        rows[number][0] = limit
        if limit in PROBES:
            groups.setdefault((PROBES[limit].options, PROBES[limit].trusts), []).append(number)
        else:
            results[number] = (["nothing goes to it"], False)
    for (given, trusts), numbers in groups.items():
        given = [f"{world.folder}/photos" if part == "PHOTOS" else part for part in given]
        if "filters" in given:
            world.cluster.sql(FILTERED)
        proxies = ["--trusted-proxies", "127.0.0.1"] if trusts else []
        server = graph.Server(
            options.program, ["--database", world.cluster.url, "--shutdown-delay", "0s", *proxies, *given], options.port,
            log=world.log)
        door = Door(options.port, world.cluster)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = {number: pool.submit(go, door, rows[number][0], rows[number][1], rows[number][3]) for number in numbers}
            results |= {number: future.result() for number, future in found.items()}
        server.stop()
    for number, (limit, size, _, beyond) in enumerate(rows):
        seen, holds = results[number]
        given = " ".join(PROBES[limit].options) if limit in PROBES else ""
        print(f"{'held' if holds else 'DID NOT HOLD':<13}{limit}: {size}{f' ({given})' if given else ''}\n"
              f"             wanted: {beyond}\n             seen:   {', '.join(seen)}")
    return sum(not holds for _, holds in results.values())


if __name__ == "__main__":
    main()
