"""What is left of a bystander's answers while somebody attacks `sociograph serve`, and what it costs.

Four bystanders, signed in, each ask for one of the showcase's reads after the other; their good answers
and their 95th percentile are counted without an attack and with it, and the process' memory. Everybody
comes by a proxy that is believed (this script), so that limits are counted by address as they are for
clients of other machines; `--one-machine` has everybody come from this machine, where no points are counted.

The attacks are anonymous, from one address each unless their names say otherwise.
"""

import argparse
import contextlib
import functools
import http.client
import itertools
import json
import multiprocessing
import os
import random
import re
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import graph

BYSTANDERS = ["Q01", "Q02", "Q04", "Q12"]
WANTED_SHARE, WANTED_P95 = 0.8, 0.1


class Situation:
    """A server under attack: what attackers need to know, and when to stop."""

    def __init__(self, options, server, port):
        self.one_machine = options.one_machine
        self.port = port
        self.is_over = threading.Event()
        self.answers = {}
        self.lock = threading.Lock()
        self.ids = []
        for first in ("users", "posts", "locations", "circles"):
            found = server.execute("{ %s(first: 25) { nodes { id } } }" % first, token="demo-marisol")
            self.ids += [node["id"] for node in found[first]["nodes"]]
        self.options, self.members = options, []
        self.users, page = [], {"hasNextPage": True, "endCursor": None}
        while page["hasNextPage"] and len(self.users) < 500:
            found = server.execute(
                "query($after: String) { users(first: 100, after: $after) { nodes { username } "
                "pageInfo { hasNextPage endCursor } } }", {"after": page["endCursor"]}, token="demo-marisol")["users"]
            # The accounts that attacks made have no token of demo data.
            self.users += [n["username"] for n in found["nodes"] if not n["username"].startswith("attack")]
            page = found["pageInfo"]

    def sign_up(self, server, count):
        """Accounts with a password, which the demo data has none of."""
        for number in range(len(self.members), count):
            name = f"attack{time.time_ns()}"
            made = server.execute(
                'mutation { signUp(input: {username: "%s", password: "a good horse", email: "%s@mail.example"}) '
                "{ token } }" % (name, name))
            self.members.append((name, made["signUp"]["token"]))

    def suspend_members(self, server):
        """Staff suspends the members, whose tokens no longer count once that is answered."""
        staff = self.value("SELECT username FROM app_user WHERE 'STAFF' = ANY (roles) ORDER BY id LIMIT 1")
        for _, token in self.members:
            user = server.execute("{ viewer { user { id } } }", token=token)["viewer"]["user"]["id"]
            server.execute('mutation { suspendUser(userId: "%s") { userErrors { code } } }' % user, token=f"demo-{staff}")

    def value(self, query):
        return subprocess.run(
            [self.options.program, "psql", "--data", self.options.data, "--", "-Atc", query],
            check=True, capture_output=True, text=True).stdout.strip()

    def count(self, what):
        """How many rows the database has."""
        return int(self.value(f"SELECT count(*) FROM {what}"))

    def draft(self, stack):
        """Serves a database whose rule hides rows, beside the graph: half of the texts are somebody else's."""
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for query in ("DROP DATABASE IF EXISTS attack_hidden WITH (FORCE)", "CREATE DATABASE attack_hidden"):
            self.value(query)
        connection = re.sub(r"dbname=\S+", "", graph.cluster(self.options.data)) + " dbname=attack_hidden"
        subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", connection], check=True, text=True, input="""
            CREATE TABLE note (id int PRIMARY KEY, owner text NOT NULL, title text NOT NULL, code uuid NOT NULL);
            INSERT INTO note SELECT n, CASE WHEN n % 2 = 0 THEN 'ada' ELSE 'ben' END,
              CASE WHEN n % 2 = 0 THEN 'open ' ELSE 'secret ' END || n, md5(n::text)::uuid
            FROM generate_series(1, 10000) AS n""")
        subprocess.run([self.options.program, "draft", f"{folder}/graph", "--database", connection], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{folder}/graph/note.graphql") as file:
            text = file.read()
        with open(f"{folder}/graph/note.graphql", "w") as file:
            file.write(text.replace('@table(name: "note", key: "id")',
                                    '@table(name: "note", key: "id", where: "this.owner = \'ada\'")'))
        self.drafted_port = self.port + 1
        stack.callback(graph.Server(
            self.options.program, ["--schema", f"{folder}/graph", "--database", connection, "--shutdown-delay", "0s",
                                   "--rate-limit-address", "off"], self.drafted_port).stop)

    def headers(self, address):
        return {} if self.one_machine else {"X-Forwarded-For": address}

    def note(self, what):
        with self.lock:
            self.answers[what] = self.answers.get(what, 0) + 1

    def client(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)

    def send(self, client, query, variables=None, address="192.0.2.1", token=None, coding=None, **more):
        """One request of an attacker; what came of it is noted."""
        headers = {**more, **({"Accept-Encoding": coding} if coding else {})}
        self.post(client, "/graphql", json.dumps({"query": query, "variables": variables or {}}), address, token, headers)

    def post(self, client, path, body, address="192.0.2.1", token=None, more=None):
        headers = {"Content-Type": "application/json", **self.headers(address), **(more or {})}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            client.request("POST", path, body, headers)
            answer = client.getresponse()
            text = answer.read()
            code = re.search(rb'"code":"([A-Z_]+)"', text)
            what = f"{answer.status}" + (f" {code[1].decode()}" if code else "")
            self.note(what + (f" {answer.headers['Content-Encoding']}" if answer.headers["Content-Encoding"] else ""))
        except (OSError, http.client.HTTPException) as error:
            self.note(type(error).__name__)
            client.close()

    def open_socket(self, receive_buffer=None):
        opened = socket.socket()
        if receive_buffer:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        opened.settimeout(30)
        opened.connect(("127.0.0.1", self.port))
        return opened


def repeatedly(count, interval=None):
    """An attack by `count` threads that call a function again and again, or once in `interval` seconds."""
    def decorate(attempt):
        def attack(situation):
            def run(number):
                client = situation.client()
                while not situation.is_over.is_set():
                    began = time.monotonic()
                    attempt(situation, client, number)
                    if interval:
                        situation.is_over.wait(max(0, interval - (time.monotonic() - began)))
            return [threading.Thread(target=run, args=(number,)) for number in range(count)]
        attack.__doc__ = attempt.__doc__
        return attack
    return decorate


# What the costs let through takes half a second of PostgreSQL's time on a graph of scale 1.
DEAR = "{ users(first: 100) { nodes { %s } } }" % " ".join(
    f'a{n}: followers(first: 0, search: "{chr(97 + n % 26)}") {{ totalCount }}' for n in range(27))


def dear(situation, client, number, address):
    situation.send(client, DEAR, address=address)


@repeatedly(1, interval=1)
def one_dear_request_a_second(situation, client, number):
    """one dear request a second"""
    dear(situation, client, number, "192.0.2.1")


@repeatedly(16)
def dear_requests_from_16_sockets(situation, client, number):
    """dear requests from 16 sockets of one address"""
    dear(situation, client, number, "192.0.2.1")


@repeatedly(16)
def dear_requests_from_16_addresses(situation, client, number):
    """dear requests from 16 addresses"""
    dear(situation, client, number, f"192.0.2.{number + 1}")


@repeatedly(16)
def dear_requests_of_16_viewers(situation, client, number):
    """dear requests of 16 people who are signed in"""
    situation.send(client, DEAR, token=f"demo-{situation.users[number]}", address=f"192.0.2.{number + 1}")


@repeatedly(8)
def dear_among_cheap(situation, client, number):
    """a statement trained by cheap variants, then dear"""
    query = DEAR.replace("{ users(first: 100)", "query($text: String!) { users(first: 100, search: $text)")
    for text in ["no such name"] * 15 + [""]:
        situation.send(client, query, {"text": text}, token=f"demo-{situation.users[number]}", address=f"192.0.2.{number + 1}")


@repeatedly(4)
def long_aliases(situation, client, number):
    """61 kB of long aliases"""
    name = lambda n: f"a{n}_" + "x" * 2040
    fields = " ".join(f"{name(n)}: username" for n in range(29))
    situation.send(client, "{ users(first: 100) { nodes { followers(first: 40) { nodes { %s } } } } }" % fields)


@repeatedly(8)
def every_page_size(situation, client, number):
    """every page size, in a statement of three pages"""
    query = """query($a: Int!, $b: Int!, $c: Int!) { users(first: $a) { nodes { posts(first: $b) { nodes {
      comments(first: $c) { nodes { body } } } } } } }"""
    sizes = {name: random.randint(1, 15) for name in "abc"}
    situation.send(client, query, sizes, token=f"demo-{situation.users[number]}", address=f"192.0.2.{number + 1}")


@repeatedly(8)
def hundred_nodes(situation, client, number):
    """nodes(ids:) of 100"""
    query = """query($ids: [ID!]!) { nodes(ids: $ids) { id ... on User { displayName followers(first: 10) {
      totalCount nodes { displayName posts(first: 2) { totalCount } } } } ... on Post { comments(first: 10) { nodes { body } } } } }"""
    ids = random.sample(situation.ids, min(100, len(situation.ids)))
    situation.send(client, query, {"ids": ids}, token=f"demo-{situation.users[number]}", address=f"192.0.2.{number + 1}")


# 200 kB for few points, which gzip takes longest to compress.
LONG = "{ __schema { types { name description fields { name description args { name description } } } } }"


@repeatedly(16)
def compressed_answers(situation, client, number):
    """dear codings: long answers to 1,000 addresses, by gzip"""
    n = next(numbers) % 1000
    situation.send(client, LONG, address=f"192.0.{n // 250}.{n % 250 + 1}", coding="gzip")


@repeatedly(16)
def answers_as_they_are(situation, client, number):
    """the same long answers as they are"""
    n = next(numbers) % 1000
    situation.send(client, LONG, address=f"192.0.{n // 250}.{n % 250 + 1}")


def slow_readers(situation):
    """150 sockets that do not read a large answer"""
    query = """{ users(first: 50) { nodes { id username displayName bio followers(first: 100) { nodes { id username displayName bio } } } } }"""
    body = json.dumps({"query": query}).encode()

    def hold(number):
        token = f"Authorization: Bearer demo-{situation.users[number % 100]}\r\n"
        while not situation.is_over.is_set():
            try:
                opened = situation.open_socket(receive_buffer=4096)
                extra = "".join(f"{k}: {v}\r\n" for k, v in situation.headers("192.0.2.1").items())
                opened.sendall((f"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{extra}{token}"
                                f"Content-Length: {len(body)}\r\n\r\n").encode() + body)
                first = opened.recv(12)
                situation.note(first[9:12].decode() or "closed")
                situation.is_over.wait(15)
                opened.close()
            except OSError as error:
                situation.note(type(error).__name__)
                situation.is_over.wait(0.2)
    return [threading.Thread(target=hold, args=(number,)) for number in range(150)]


def sockets(text, count):
    def attack(situation):
        def hold():
            opened = []
            for _ in range(count):
                try:
                    opened.append(situation.open_socket())
                    opened[-1].sendall(text)
                    situation.note("opened")
                except OSError as error:
                    situation.note(type(error).__name__)
            while not situation.is_over.wait(0.5):
                for one in opened:
                    with contextlib.suppress(OSError):
                        one.sendall(b"X" if text else b"")
            for one in opened:
                one.close()
        return [threading.Thread(target=hold)]
    return attack


slow_heads = sockets(b"POST /graphql HTTP/1.1\r\nX-Slow: ", 150)
slow_heads.__doc__ = "150 heads, a byte each half second"
idle_sockets = sockets(b"", 150)
idle_sockets.__doc__ = "150 sockets that say nothing"
numbers = itertools.count()


@repeatedly(16)
def new_documents(situation, client, number):
    """a flood of new documents of 6 kB"""
    with situation.lock:
        n = next(numbers)
    fields = " ".join(
        f"p{i}: posts(first: {1 + (n + i) % 5}) {{ nodes {{ id body author {{ username displayName }} comments(first: 3) "
        f"{{ totalCount nodes {{ body author {{ username }} }} }} }} }}" for i in range(25))
    situation.send(client, "query New%d { user(by: {username: \"marisol\"}) { %s } }" % (n, fields))


@repeatedly(16)
def hostile_sign_ins(situation, client, number):
    """wrong passwords of many names"""
    with situation.lock:
        n = next(numbers)
    name = situation.users[n % len(situation.users)]
    situation.send(client, 'mutation { signIn(username: "%s", password: "wrong horse %d") '
                   "{ token userErrors { code } } }" % (name, n))


@repeatedly(16)
def guesses_from_5_addresses(situation, client, number):
    """wrong passwords of many names, 5 addresses"""
    name = situation.users[next(numbers) % len(situation.users)]
    situation.send(client, 'mutation { signIn(username: "%s", password: "wrong horse") '
                   "{ token userErrors { code } } }" % name, address=f"192.0.2.{number % 5 + 1}")


@repeatedly(16)
def guesses_of_nobody(situation, client, number):
    """wrong passwords of names that nobody has"""
    situation.send(client, 'mutation { signIn(username: "nobody%d.%d", password: "wrong horse") '
                   "{ token userErrors { code } } }" % (next(numbers), number))


@repeatedly(2)
def mails(situation, client, number):
    """mails to addresses that nobody has verified"""
    fields = " ".join(
        'u%d: updateProfile(input: {email: "victim%d@mail.example"}) { userErrors { code } } '
        'p%d: emailProductToMe(productId: "%s") { userErrors { code } } r%d: resendVerification { userErrors { code } }'
        % (n, next(numbers), n, situation.product, n) for n in range(5))
    situation.send(client, "mutation { %s }" % fields, token=situation.members[number][1])


@repeatedly(2)
def notices(situation, client, number):
    """events of a new account for everybody's channel"""
    fields = " ".join(
        'e%d: createEvent(input: {title: "Buy", startsAt: "2041-01-01T10:00:00Z", inviteCircleIds: [%s]}) '
        "{ userErrors { code } }" % (n, json.dumps(situation.channel)) for n in range(3))
    fields += " ".join(
        ' n%d: createAnnouncement(input: {body: "Buy", notifyCircleIds: [%s]}) { userErrors { code } }'
        % (n, json.dumps(situation.channel)) for n in range(2))
    situation.send(client, "mutation { %s }" % fields, token=situation.members[number][1])


@repeatedly(4)
def failing_patterns(situation, client, number):
    """searches and filters that fail in PostgreSQL, or take long"""
    text = random.choice(["\\", "%" * 200 + "x", "(" * 100, "a" * 200 + "\\"])
    situation.send(
        client, "query($t: String!) { users(search: $t) { totalCount } locations(filter: {search: $t}) { totalCount } }",
        {"t": text})


@repeatedly(4)
def hidden_texts(situation, client, number):
    """patterns that fail where a hidden text of a draft begins so"""
    said = []
    for beginning in ("secret ", "nobody "):
        operator = random.choice(["like", "ilike"])
        ask = http.client.HTTPConnection("127.0.0.1", situation.drafted_port, timeout=30)
        body = json.dumps({"query": "query($t: String!) { notes(filter: {title: {%s: $t}}) { totalCount } }" % operator,
                           "variables": {"t": beginning + "\\"}})
        try:
            ask.request("POST", "/graphql", body, {"Content-Type": "application/json"})
            answer = ask.getresponse()
            # Without what the client said itself, and the number of the request.
            text = re.sub(rb'"requestId":"\w+"', b"", answer.read())
            said.append((answer.status, text.replace(beginning.encode(), b"")))
        except (OSError, http.client.HTTPException) as error:
            situation.note(type(error).__name__)
        ask.close()
    situation.note("answers that tell" if len(set(said)) > 1 else "answers that are alike")


@repeatedly(4)
def suspended(situation, client, number):
    """posts of users that are suspended"""
    situation.send(client, 'mutation { createTextPost(input: {body: "b"}) { userErrors { code } } }',
                   token=situation.members[number % len(situation.members)][1])


def chunk(kind, payload):
    return len(payload).to_bytes(4, "big") + kind + payload + zlib.crc32(kind + payload).to_bytes(4, "big")


@functools.cache
def picture_of_texts():
    """A PNG of one pixel with 40 texts of 50 MB each."""
    text = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(50_000_000), 9))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + 40 * text
            + chunk(b"IDAT", zlib.compress(b"\0\1\2\3")) + chunk(b"IEND", b""))


@repeatedly(2)
def pictures_of_texts(situation, client, number):
    """pictures with 40 texts of 50 MB"""
    situation.post(client, "/photos", picture_of_texts(), token=situation.members[number][1],
                   more={"Content-Type": "image/png"})


@repeatedly(2)
def foreign_hosts(situation, client, number):
    """requests by a name that is not the server's"""
    situation.send(client, "{ viewer { user { email } } }", token=situation.members[number][1], Host="evil.example")


@repeatedly(4)
def long_questions(situation, client, number):
    """questions of 500 kB to the tool that searches the schema"""
    call = {"name": "search_schema", "arguments": {"question": "how large is a thing " * 25_000}}
    situation.post(client, "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
                   more={"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"})


def flood(opening, more, count, rate=None):
    """An attack by `count` sockets that say `opening`, and then `more(number)` without end, or so many bytes a second."""
    def attack(situation):
        def run():
            opened, number = None, 0
            while not situation.is_over.is_set():
                try:
                    if opened is None:
                        opened, number = situation.open_socket(), 0
                        opened.settimeout(1)
                        opened.sendall(opening)
                        situation.note("opened")
                    part = more(number)
                    number += 1
                    opened.sendall(part)
                    with contextlib.suppress(BlockingIOError):
                        while opened.recv(65536, socket.MSG_DONTWAIT):
                            pass
                    if rate:
                        situation.is_over.wait(len(part) / rate)
                except OSError as error:
                    situation.note(type(error).__name__)
                    opened.close()
                    opened = None
                    situation.is_over.wait(0.1)
        return [threading.Thread(target=run) for _ in range(count)]
    return attack


def frame(kind, flags, stream, payload=b""):
    """A frame of HTTP/2."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0)
# GET, http, /, and the authority "a".
HEAD = bytes([0x82, 0x86, 0x84, 0x01, 0x01]) + b"a"
WEBSOCKET = (b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
             b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n")

header_flood = flood(HTTP2, lambda n: frame(1, 5, 2 * n + 1, HEAD + b"\x8f" * 16_000), 2, rate=700_000)
header_flood.__doc__ = "a flood of indexed fields, on two connections"
provoked_resets = flood(
    HTTP2, lambda n: b"".join(frame(1, 4, 2 * k + 1, HEAD) + frame(8, 0, 2 * k + 1, bytes(4))
                              for k in range(50 * n, 50 * n + 50)), 2)
provoked_resets.__doc__ = "a flood of streams that the server has to reset"
window_flood = flood(HTTP2, lambda n: frame(8, 0, 0, b"\0\0\0\1") * 5_000, 2)
window_flood.__doc__ = "a flood of HTTP/2 windows"
unknown_frames = flood(HTTP2, lambda n: frame(200, 0, 0) * 7_000, 2)
unknown_frames.__doc__ = "a flood of unknown frames"
request_flood = flood(HTTP2, lambda n: b"".join(frame(1, 5, 2 * k + 1, HEAD) for k in range(50 * n, 50 * n + 50)), 2)
request_flood.__doc__ = "a flood of streams"
pings = flood(WEBSOCKET, lambda n: b"\x89\x80\0\0\0\0" * 10_000, 2)
pings.__doc__ = "a flood of WebSocket pings"
pipelined = flood(b"", lambda n: b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1_000, 2)
pipelined.__doc__ = "a flood of pipelined requests"

# What of the database's rows an attack must not make, and of which attacks people sign in meanwhile.
MADE = {mails: "outbox", notices: "notification", suspended: "post"}
# Which need accounts of their own, and what the server needs.
WITH_MEMBERS = [pictures_of_texts, foreign_hosts]
WITH_TOOLS = [long_questions]
SIGNED_IN = [hostile_sign_ins, guesses_from_5_addresses, guesses_of_nobody]

ATTACKS = [
    one_dear_request_a_second, dear_requests_from_16_sockets, dear_requests_from_16_addresses,
    dear_requests_of_16_viewers, dear_among_cheap, long_aliases, every_page_size, hundred_nodes, compressed_answers,
    answers_as_they_are, slow_readers,
    slow_heads, idle_sockets, new_documents, hostile_sign_ins, guesses_from_5_addresses, guesses_of_nobody, mails,
    notices, failing_patterns, hidden_texts, suspended, pictures_of_texts, foreign_hosts, long_questions, header_flood,
    provoked_resets, window_flood, unknown_frames, request_flood, pings, pipelined,
]
FLOODS = ATTACKS[ATTACKS.index(failing_patterns):]


class Attackers:
    """They have a process of their own, so that bystanders do not wait for their turn of Python's lock."""

    def __init__(self, situation, attack):
        context = multiprocessing.get_context("fork")
        self.is_over, self.result = context.Event(), context.SimpleQueue()
        self.process = context.Process(target=self.run, args=(situation, attack), daemon=True)
        self.process.start()

    def run(self, situation, attack):
        # Their own machines have cores of their own: here they have what nobody else wants. Linux weighs sessions
        # first, and processes within them.
        os.setsid()
        os.nice(19)
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as group:
            group.write("19")
        situation.is_over = self.is_over
        threads = attack(situation)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.result.put(situation.answers)

    def answers(self):
        self.is_over.set()
        found = self.result.get()
        self.process.join()
        return found


class SignIns:
    """People who sign in with the right password, one after the other, each from an address of their own."""

    def __init__(self, situation):
        self.situation, self.times, self.refused = situation, [], {}
        self.thread = threading.Thread(target=self.run)

    def run(self):
        for number in itertools.count():
            name = self.situation.members[number % len(self.situation.members)][0]
            client = self.situation.client()
            body = json.dumps({"query": 'mutation { signIn(username: "%s", password: "a good horse") '
                                        "{ token userErrors { code } } }" % name})
            headers = {"Content-Type": "application/json", **self.situation.headers(f"198.51.100.{100 + number % 100}")}
            began = time.monotonic()
            try:
                client.request("POST", "/graphql", body, headers)
                text = client.getresponse().read()
            except (OSError, http.client.HTTPException) as error:
                text = type(error).__name__.encode()
            client.close()
            if b'"token":"' in text:
                self.times.append(time.monotonic() - began)
            else:
                code = re.search(rb'"code":"([A-Z_]+)"', text)
                what = code[1].decode() if code else text[:40].decode(errors="replace")
                self.refused[what] = self.refused.get(what, 0) + 1
            if self.situation.is_over.wait(0.3):
                return

    def __str__(self):
        count = len(self.times) + sum(self.refused.values())
        slowest = f", the slowest in {max(self.times):.1f} s" if self.times else ""
        return f"{len(self.times)} of {count} signed in{slowest}" + "".join(
            f", {n} x {what}" for what, n in self.refused.items())


class Bystanders:
    """Clients that ask for a page, read it, and ask for the next one: each for many people in turn, none of whom comes
    near the end of their points."""

    def __init__(self, situation, bodies, pause):
        self.situation, self.pause = situation, pause
        self.times, self.refused = [], {}
        self.threads = [threading.Thread(target=self.run, args=(number, body)) for number, body in enumerate(bodies)]

    def run(self, number, body):
        people = itertools.cycle(self.situation.users[100 + number::len(BYSTANDERS)])
        client = self.situation.client()
        while not self.situation.is_over.is_set():
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer demo-{next(people)}",
                       **self.situation.headers(f"198.51.100.{number + 1}")}
            began = time.monotonic()
            try:
                client.request("POST", "/graphql", body, headers)
                answer = client.getresponse()
                text = answer.read()
                isGood = answer.status == 200 and b'"errors"' not in text[-4096:]
                what = str(answer.status)
            except (OSError, http.client.HTTPException) as error:
                isGood, what = False, type(error).__name__
                client.close()
            with self.situation.lock:
                if isGood:
                    self.times.append(time.monotonic() - began)
                else:
                    self.refused[what] = self.refused.get(what, 0) + 1
            self.situation.is_over.wait(self.pause)

    def p95(self):
        return sorted(self.times)[int(len(self.times) * 0.95)] if self.times else float("inf")


def measure(situation, bodies, options, server, attack):
    """Good answers, their p95, refusals, the attackers' answers, and the largest memory meanwhile."""
    situation.is_over.clear()
    situation.answers = {}
    attackers = Attackers(situation, attack) if attack else None
    bystanders = Bystanders(situation, bodies, options.pause)
    bystanders.sign_ins = SignIns(situation) if attack in SIGNED_IN else None
    if bystanders.sign_ins:
        bystanders.threads.append(bystanders.sign_ins.thread)
    for thread in bystanders.threads:
        thread.start()
    resident = backend = 0
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        resident = max(resident, server.resident_megabytes()["VmRSS"])
        backend = max(backend, largest_backend(options.data))
        time.sleep(0.25)
    situation.is_over.set()
    for thread in bystanders.threads:
        thread.join()
    return bystanders, attackers.answers() if attackers else {}, resident, backend


def largest_backend(data):
    """Megabytes of the cluster's largest process that are its own."""
    largest = 0
    with contextlib.suppress(OSError, StopIteration):
        place = next(p for p in graph.places(data))
        postmaster = open(os.path.join(place, "postgres", "postmaster.pid")).readline().strip()
        for child in open(f"/proc/{postmaster}/task/{postmaster}/children").read().split():
            with contextlib.suppress(OSError):
                status = open(f"/proc/{child}/status").read()
                largest = max(largest, int(re.search(r"RssAnon:\s+(\d+)", status)[1]) / 1024)
    return largest


def tools(stack):
    """The options for tools of agents, whose documents are none."""
    file = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".json"))
    json.dump({"format": "apollo-persisted-query-manifest", "version": 1, "operations": []}, file)
    file.flush()
    return ["--mcp", "--trusted-documents", file.name, "--trusted-level", "off"]


def main():
    parser = argparse.ArgumentParser(prog="script/attack", description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", default=".build/release/sociograph", help="the build that is attacked")
    parser.add_argument("--options", default="", help="more options of serve, in one argument")
    parser.add_argument("--data", default=".sociograph-bench-small", help="data directory of the cluster")
    parser.add_argument("--scale", type=int, default=1, help="of the demo data, where there is none yet")
    parser.add_argument("--seconds", type=float, default=10, help="of each attack (default 10)")
    parser.add_argument("--pause", type=float, default=0.02, help="of a bystander between requests, in seconds")
    parser.add_argument("--attacks", default="", help="parts of the names of those to run; all without")
    parser.add_argument("--one-machine", action="store_true", help="nobody's points are counted")
    parser.add_argument("--port", type=int, default=18095)
    parser.add_argument("--log", default=os.devnull, help="where the server's words go")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 when dear requests or floods leave less than 80 %% of the good answers, or p95 over 100 ms; when "
                        "somebody with the right password is refused; when mails or notices are made")
    options = parser.parse_args()
    if not os.path.exists(options.data):
        graph.say(f"loading a graph of scale {options.scale}")
        subprocess.run([options.program, "seed", "--scale", str(options.scale), "--data", options.data],
                       check=True, stdout=subprocess.DEVNULL)
    proxies = [] if options.one_machine else ["--trusted-proxies", "127.0.0.1"]
    failed = False
    log = open(options.log, "w")
    print(f"{'attack':56} {'good':>11} {'p95 ms':>13} {'refused':>8} {'MB':>5} {'backend':>7}  attackers' answers")
    chosen = [a for a in ATTACKS if not options.attacks or any(
        part in a.__doc__ or part in getattr(a, "__name__", "") for part in options.attacks.split(","))]
    for attack in chosen:
        with contextlib.ExitStack() as stack:
            server = graph.Server(
                options.program, ["--data", options.data, "--shutdown-delay", "0s", *proxies, *options.options.split(),
                                  *(tools(stack) if attack in WITH_TOOLS else [])],
                options.port, log=log)
            stack.callback(server.stop)
            situation = Situation(options, server, options.port)
            bodies = []
            values = graph.variables(server, "demo-marisol")
            for folder, name in graph.showcase(",".join(BYSTANDERS)):
                bodies.append(json.dumps(graph.request(folder, name, values)).encode())
            before, _, _, _ = measure(situation, bodies, options, server, None)
            if attack in SIGNED_IN or attack in MADE or attack in WITH_MEMBERS:
                situation.sign_up(server, 12 if attack in SIGNED_IN else 2)
                situation.product = server.execute("{ products(first: 1) { nodes { id } } }")["products"]["nodes"][0]["id"]
                circles = server.execute("{ circles(first: 100) { nodes { id isDefault } } }", token="demo-marisol")
                situation.channel = next((c["id"] for c in circles["circles"]["nodes"] if c["isDefault"]), "none")
            if attack is hidden_texts:
                situation.draft(stack)
            if attack is suspended:
                situation.suspend_members(server)
            made = situation.count(MADE[attack]) if attack in MADE else 0
            after, answers, resident, backend = measure(situation, bodies, options, server, attack)
            share = len(after.times) / max(1, len(before.times))
            print(f"{attack.__doc__:56} {len(before.times):5}{100 * share:5.0f}% {1e3 * before.p95():5.1f} {1e3 * after.p95():7.1f}"
                  f" {sum(after.refused.values()):8} {resident:5.0f} {backend:7.0f}  "
                  + ", ".join(f"{n} x {what}" for what, n in sorted(answers.items(), key=lambda a: -a[1])), flush=True)
            if attack in MADE:
                made = situation.count(MADE[attack]) - made
                print(f"    {made} rows of {MADE[attack]} made", flush=True)
                failed = failed or made > (0 if attack is suspended else len(situation.members))
            if attack is hidden_texts:
                failed = failed or "answers that tell" in answers
            if attack is foreign_hosts:
                failed = failed or any(what.startswith("200") for what in answers)
            if after.sign_ins:
                print(f"    {after.sign_ins}", flush=True)
                failed = failed or bool(after.sign_ins.refused)
            if ("dear" in attack.__doc__ or attack in FLOODS) and (share < WANTED_SHARE or after.p95() > WANTED_P95):
                failed = True
    sys.exit(1 if failed and options.check else 0)


if __name__ == "__main__":
    main()
