"""Time to the first part of an answer whose dear parts are deferred, beside that to the whole answer.

One client on one connection asks for each in turn, so that a noisy machine disturbs all alike: the whole answer, and
the same in parts (incrementalSpec=v0.2). Medians in milliseconds: of the whole, of the first part, and until the last.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import time

import graph

TOKEN = "demo-marisol"
# What of each comes later: fields by how they begin, together with what they select.
DEAR = {
    "Q04": ["reactions(kind: HEART, first: 5)", "location", "... on Votable"],
    "Q12": ["posts(kinds"],
    "Q14": ["location", "reactionCount", "viewerReactions", "comments(last"],
}


def main():
    parser = argparse.ArgumentParser(prog="script/bench --defer", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--data", default=".sociograph-bench", help="data directory")
    parser.add_argument("--scale", type=int, default=20, help="scale of the graph (default 20)")
    parser.add_argument("--requests", type=int, default=300, help="of each kind (default 300)")
    parser.add_argument("--port", type=int, default=18080)
    options = parser.parse_args()
    if not os.path.exists(options.data):
        graph.say(f"loading a graph of scale {options.scale}")
        subprocess.run([options.program, "seed", "--scale", str(options.scale), "--data", options.data],
                       check=True, stdout=subprocess.DEVNULL)
    server = graph.Server(options.program, ["--data", options.data], options.port)
    try:
        given = graph.variables(server, TOKEN)
        print(f"{'operation':<24}{'whole':>10}{'first':>10}{'last':>10}{'first/whole':>14}{'bytes':>9}{'first':>8}")
        for folder, name in graph.showcase(",".join(DEAR)):
            measure(options, folder, name, given)
    finally:
        server.stop()


def measure(options, folder, name, given):
    body = graph.request(folder, name, given)
    parts = dict(body, query=deferred(body["query"], DEAR[name[:3]]))
    whole = json.dumps(body).encode()
    parts = json.dumps(parts).encode()
    client = Client(options.port)
    times = {"whole": [], "first": [], "last": []}
    for number in range(options.requests + 20):
        everything, size = client.whole(whole)
        first, last, first_size = client.parts(parts)
        if number >= 20:
            times["whole"].append(everything)
            times["first"].append(first)
            times["last"].append(last)
    middle = {key: statistics.median(found) * 1000 for key, found in times.items()}
    print(f"{name:<24}{middle['whole']:>10.2f}{middle['first']:>10.2f}{middle['last']:>10.2f}"
          f"{middle['first'] / middle['whole']:>14.2f}{size:>9}{first_size:>8}", flush=True)


def deferred(document, starts):
    for start in starts:
        begin = document.index(start)
        end = begin + len(start)
        if start.count("(") > start.count(")"):
            end = document.index(")", end) + 1
        rest = document[end:].lstrip()
        if rest.startswith("{"):
            end = document.index("{", end)
            depth = 0
            while True:
                depth += {"{": 1, "}": -1}.get(document[end], 0)
                end += 1
                if depth == 0:
                    break
        elif rest.startswith("("):
            end = document.index(")", end) + 1
        document = document[:begin] + "... @defer { " + document[begin:end] + " }" + document[end:]
    return document


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, body, accept):
        self.socket.sendall(
            (f"POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
             f"Content-Type: application/json\r\nAccept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
             ).encode() + body)
        return time.perf_counter()

    def whole(self, body):
        began = self.send(body, "application/json")
        found = b""
        while b"\r\n\r\n" not in found:
            found += self.socket.recv(1 << 16)
        head, _, rest = found.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(rest) < length:
            rest += self.socket.recv(1 << 16)
        assert b'"errors"' not in rest, rest
        return time.perf_counter() - began, length

    def parts(self, body):
        began = self.send(body, "multipart/mixed;incrementalSpec=v0.2,application/json")
        found = b""
        first = None
        while not found.endswith(b"0\r\n\r\n"):
            found += self.socket.recv(1 << 16)
            # A part is there when the delimiter behind it is.
            if first is None and found.count(b"--graphql") > 1:
                first = time.perf_counter() - began
                size = found.index(b"\r\n--graphql", found.index(b"--graphql") + 1) - found.index(b"{")
        assert b'"errors"' not in found, found
        return first, time.perf_counter() - began, size


if __name__ == "__main__":
    main()
