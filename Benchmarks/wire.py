"""What compression, kept responses and sets of variables cost and save, in CPU of the server and of PostgreSQL.

Each form of a request is sent by keep-alive clients in turn, in rounds, to one server; the figures are
medians. Compressed responses are asked for at a rate below that up to which a client's are compressed, and so is
what they are compared with. CPU is that of a request, or of one set of variables, without that of the client:
its inverse is the rate that a machine which does nothing else could have. The bytes are those of the response's body.
"""

import argparse
import contextlib
import json
import os
import selectors
import socket
import statistics
import subprocess
import time
import urllib.parse

import graph

TOKEN = "demo-marisol"
SETS = 100


class Form:
    """A form of a request; `sets` are the executions that it asks for, `expected` its status, and `rate` the most
    requests of it a second."""

    def __init__(self, name, port, request, sets=1, expected=200, rate=None):
        self.name, self.port, self.request = name, port, request
        self.sets, self.expected, self.rate = sets, expected, rate
        self.bytes, self.server, self.postgres, self.rates = 0, [], [], []


def post(body, *headers):
    body = json.dumps(body).encode()
    head = ["POST /graphql HTTP/1.1", "Host: localhost", "Content-Type: application/json",
            f"Content-Length: {len(body)}", f"Authorization: Bearer {TOKEN}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def get(body, *headers):
    query = urllib.parse.urlencode({"query": body["query"], "variables": json.dumps(body["variables"])})
    head = [f"GET /graphql?{query} HTTP/1.1", "Host: localhost", "GraphQL-Require-Preflight: 1",
            f"Authorization: Bearer {TOKEN}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n"


class Client:
    """One connection with one request under way."""

    def __init__(self, form, poll=None):
        self.poll, self.socket = poll, None
        self.form, self.buffer, self.head, self.length = form, b"", b"", None

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.form.port))
        if self.poll:
            self.poll.register(self.socket, selectors.EVENT_READ, self)

    def close(self):
        if self.poll:
            self.poll.unregister(self.socket)
        self.socket.close()
        self.socket = None

    def begin(self):
        if not self.socket:
            self.connect()
        self.socket.sendall(self.form.request)

    def read(self):
        """Whether a response is whole."""
        part = self.socket.recv(1 << 18)
        if not part:
            raise SystemExit(f"bench: {self.form.name}: the server closed the connection")
        self.buffer += part
        if self.length is None:
            head, end, _ = self.buffer.partition(b"\r\n\r\n")
            if not end:
                return False
            self.head = head
            fields = head.lower().split(b"\r\n")
            if int(fields[0].split()[1]) != self.form.expected:
                raise SystemExit(f"bench: {self.form.name}: {self.buffer[:600]}")
            sizes = [field.split(b":")[1] for field in fields if field.startswith(b"content-length:")]
            self.length = len(head) + 4 + (int(sizes[0]) if sizes else 0)
            # Several sets come in chunks: the last one is empty.
            self.is_chunked = b"transfer-encoding: chunked" in fields
        if not (self.buffer.endswith(b"\r\n0\r\n\r\n") if self.is_chunked else len(self.buffer) >= self.length):
            return False
        self.form.bytes = len(self.buffer) - len(self.head) - 4
        self.buffer, self.length = b"", None
        # A server ends a connection after so many requests.
        if b"connection: close" in self.head.lower():
            self.close()
        return True


def run(options, server, form, seconds):
    """CPU of the server and of PostgreSQL for one execution, in microseconds."""
    poll = selectors.DefaultSelector()
    clients = [Client(form, poll) for _ in range(options.clients)]
    before = sum(server.cpu_seconds()), graph.postgres_seconds(options.data)
    start = time.monotonic()
    begun = ended = 0
    idle = list(clients)
    while True:
        passed = time.monotonic() - start
        if passed < seconds:
            while idle and (not form.rate or begun < passed * form.rate):
                idle.pop().begin()
                begun += 1
        elif begun == ended:
            break
        for key, _ in poll.select(0.002 if idle else 5):
            if key.data.read():
                ended += 1
                idle.append(key.data)
    after = sum(server.cpu_seconds()), graph.postgres_seconds(options.data)
    for client in clients:
        if client.socket:
            client.close()
    form.rates.append(ended * form.sets / (time.monotonic() - start))
    return [(now - then) * 1e6 / (ended * form.sets) for now, then in zip(after, before)]


def tag(form):
    """The ETag of a response."""
    client = Client(form)
    client.begin()
    while not client.read():
        pass
    client.close()
    for field in client.head.decode().split("\r\n"):
        name, _, value = field.partition(":")
        if name.lower() == "etag":
            return value.strip()
    raise SystemExit(f"bench: {form.name} has no ETag")


def request(name, given):
    for folder, whole in graph.showcase(name):
        return graph.request(folder, whole, given)
    raise SystemExit(f"bench: there is no {name}")


def forms(options, given):
    """Groups of forms, each of which is compared with the first of its group."""
    port, keeper = options.port, options.port + 1
    feed, five = request("Q14", given), request("Q02", given)
    kept = Form("Q14, kept", keeper, get(feed))
    sets = {"query": five["query"], "variables": [five["variables"]] * SETS}
    return [
        [Form("Q14, slowly", port, post(feed), rate=200)] + [
            Form(f"Q14, {coding}", port, post(feed, f"Accept-Encoding: {coding}"), rate=200)
            for coding in ("gzip", "br", "zstd")],
        [Form("Q14", port, post(feed)), kept,
         Form("Q14, unchanged", keeper, get(feed, f"If-None-Match: {tag(kept)}"), expected=304)],
        [Form("Q02", port, post(five)),
         Form(f"Q02, {SETS} sets", port, post(sets, "Accept: application/jsonl"), sets=SETS)],
    ]


def main():
    parser = argparse.ArgumentParser(prog="script/bench --wire", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--data", default=".sociograph-bench-small", help="data directory of the cluster")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=3, help="of each run (default 3)")
    parser.add_argument("--rounds", type=int, default=5, help="of all forms, alternating (default 5)")
    parser.add_argument("--port", type=int, default=18390)
    options = parser.parse_args()
    if not os.path.exists(options.data):
        graph.say("loading a graph of scale 1")
        subprocess.run([options.program, "seed", "--scale", "1", "--data", options.data],
                       check=True, stdout=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        server = graph.Server(options.program, ["--data", options.data], options.port)
        stack.callback(server.stop)
        keeper = graph.Server(
            options.program,
            ["--database", graph.cluster(options.data), "--answer-cache", str(64 << 20)], options.port + 1)
        stack.callback(keeper.stop)
        groups = forms(options, graph.variables(server, TOKEN))
        for group in groups:
            for form in group:
                run(options, keeper if form.port == options.port + 1 else server, form, 1)
                form.rates.clear()
            for _ in range(options.rounds):
                for form in group:
                    asked = keeper if form.port == options.port + 1 else server
                    for figures, cost in zip((form.server, form.postgres), run(options, asked, form, options.seconds)):
                        figures.append(cost)
    print(f"{'request':<18}{'bytes':>9}{'smaller':>9}{'server µs':>11}{'more':>8}{'PostgreSQL µs':>15}"
          f"{'both':>9}{'times':>8}{'a second':>10}")
    for group in groups:
        first = group[0]
        for form in group:
            server, postgres = statistics.median(form.server), statistics.median(form.postgres)
            base = statistics.median(first.server), statistics.median(first.postgres)
            smaller = first.bytes / form.bytes if form.bytes and form.sets == 1 else 1
            print(f"{form.name:<18}{form.bytes:>9,}{smaller:>9.1f}{server:>11.1f}{server - base[0]:>8.0f}"
                  f"{postgres:>15.1f}{server + postgres:>9.1f}{sum(base) / (server + postgres):>8.1f}"
                  f"{statistics.median(form.rates):>10,.0f}")


if __name__ == "__main__":
    main()
