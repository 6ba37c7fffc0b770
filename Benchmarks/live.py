"""What sockets with subscriptions cost, and how soon they are told.

Idle sockets with a subscription each: the server's own memory for one. Subscribers of one post, nobody of them signed
in, so that all are told the same, or each of them somebody else: the time from the request that makes a comment until
each has been told, and how many are told in a second when comments come one after the other. The idle sockets closed at
once and opened again: until all hear.

Everything runs on this machine, this client included, which is one process of Python and takes part of the times.
"""

import argparse
import base64
import hashlib
import json
import os
import resource
import select
import socket
import statistics
import struct
import subprocess
import sys
import time
import urllib.request

import graph

TOKEN = "demo-marisol"
COMMENTS = "subscription($id: ID!) { commentAdded(subjectId: $id) { id body author { displayName } } }"


def frame(text):
    """A text frame of a client, masked with zeros."""
    data = text.encode()
    length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
    return b"\x81" + length + b"\0\0\0\0" + data


class Sockets:
    """Any number of WebSockets, read by one epoll."""

    def __init__(self, port):
        self.port = port
        self.poll = select.epoll()
        self.sockets = {}
        self.pending = {}

    def open(self, count, subject, tokens=None, at_once=200):
        """Opens sockets and subscribes on each, some hundred at a time."""
        opened = 0
        while opened < count:
            some = []
            for number in range(opened, min(count, opened + at_once)):
                made = socket.create_connection(("127.0.0.1", self.port))
                made.sendall(
                    b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n"
                    b"Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)) + b"\r\n\r\n")
                some.append((number, made))
            for number, made in some:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += made.recv(1)
                if b" 101 " not in head:
                    sys.exit(f"live: {head.decode()}")
                start = {"type": "connection_init"}
                if tokens:
                    start["payload"] = {"authorization": "Bearer " + tokens[number]}
                payload = {"query": COMMENTS, "variables": {"id": subject}}
                made.sendall(frame(json.dumps(start)))
                if b"connection_ack" not in made.recv(100):
                    sys.exit("live: a socket was not acknowledged")
                made.sendall(frame(json.dumps({"id": "1", "type": "subscribe", "payload": payload})))
                made.setblocking(False)
                self.sockets[made.fileno()] = made
                self.pending[made.fileno()] = b""
                self.poll.register(made.fileno(), select.EPOLLIN)
            opened += len(some)

    def close(self):
        for opened in self.sockets.values():
            opened.close()
        self.__init__(self.port)

    def read(self, count, on_message, wait=60):
        """Reads messages until there were so many."""
        end = time.perf_counter() + wait
        while count > 0:
            ready = self.poll.poll(max(0, end - time.perf_counter()))
            if not ready:
                sys.exit(f"live: {count} messages did not come")
            for descriptor, _ in ready:
                data = self.pending[descriptor] + self.sockets[descriptor].recv(1 << 18)
                if not data:
                    sys.exit("live: a socket was closed")
                place = 0
                while len(data) - place >= 2:
                    length, head = data[place + 1], 2
                    if length == 126:
                        if len(data) - place < 4:
                            break
                        length, head = struct.unpack_from(">H", data, place + 2)[0], 4
                    if len(data) - place < head + length:
                        break
                    message = data[place + head:place + head + length]
                    if data[place] == 0x89:
                        # Whoever does not answer a ping is taken to be gone.
                        self.sockets[descriptor].sendall(b"\x8a\x80\0\0\0\0")
                    elif b'"type":"next"' not in message:
                        sys.exit(f"live: another message: {message}")
                    else:
                        on_message(descriptor, message)
                        count -= 1
                    place += head + length
                self.pending[descriptor] = data[place:]


def metric(options, name):
    text = urllib.request.urlopen(f"http://127.0.0.1:{options.port + 1}/metrics").read().decode()
    return next(int(float(line.split()[-1])) for line in text.splitlines() if line.startswith(name + " "))


def wait_for_hearing(options, count):
    for _ in range(12_000):
        if (metric(options, "sociograph_subscriptions") == count
                and metric(options, "sociograph_subscriptions_starting") == 0):
            return
        time.sleep(0.02)
    sys.exit(f"live: {metric(options, 'sociograph_subscriptions')} subscriptions hear, not {count}")


def comment(server, subject, number):
    document = "mutation($id: ID!, $body: String!) { addComment(subjectId: $id, body: $body) { __typename } }"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}",
               "Idempotency-Key": f"live-{os.getpid()}-{number}-{time.time_ns()}"}
    body = json.dumps({"query": document, "variables": {"id": subject, "body": f"comment {number}"}}).encode()
    answer = json.load(urllib.request.urlopen(urllib.request.Request(server.url, body, headers)))
    if answer["data"]["addComment"] is None or "errors" in answer:
        sys.exit(f"live: {answer}")


def sessions(options, count):
    """Tokens of so many people, made by the database's owner."""
    tokens = [f"live-{os.getpid()}-{number}" for number in range(count)]
    hashes = ",".join(f"'\\x{hashlib.sha256(token.encode()).hexdigest()}'" for token in tokens)
    subprocess.run(
        ["psql", "-q", "-v", "ON_ERROR_STOP=1", graph.cluster(options.data)], check=True, text=True,
        stdout=subprocess.DEVNULL, input=f"""
        SET search_path = graph;
        SELECT create_session(u.id, t.hash::bytea, 'live')
        FROM unnest(ARRAY[{hashes}]) WITH ORDINALITY AS t(hash, place)
        JOIN (SELECT p.id, row_number() OVER (ORDER BY p.id) AS place, count(*) OVER () AS people
          FROM app_user p
          -- Nobody is told of comments by whom they block.
          WHERE p.id NOT IN (SELECT unnest(ARRAY[b.blocker_id, b.blocked_id]) FROM block b)) u
          ON u.place = (t.place - 1) % u.people + 1
        """)
    return tokens


def idle(options, server, subject):
    sockets = Sockets(options.port)
    # What a first one takes is not of the sockets.
    sockets.open(10, subject)
    wait_for_hearing(options, 10)
    before = server.resident_megabytes()["VmRSS"]
    sockets.open(options.sockets, subject)
    wait_for_hearing(options, options.sockets + 10)
    grown = server.resident_megabytes()["VmRSS"] - before
    print(f"{options.sockets} idle sockets with a subscription each: {1024 * grown / options.sockets:.1f} KiB each")
    sockets.close()
    wait_for_hearing(options, 0)
    began = time.perf_counter()
    sockets.open(options.sockets, subject, at_once=1000)
    wait_for_hearing(options, options.sockets)
    print(f"{options.sockets} sockets that come back at once: all hear after {time.perf_counter() - began:.1f} s")
    sockets.close()
    wait_for_hearing(options, 0)


def told(options, server, subject, name, tokens):
    sockets = Sockets(options.port)
    sockets.open(options.subscribers, subject, tokens)
    wait_for_hearing(options, options.subscribers)
    times = []
    for number in range(options.comments):
        began = time.perf_counter()
        comment(server, subject, number)
        sockets.read(options.subscribers, lambda *_: times.append(time.perf_counter() - began))
    times.sort()
    began = time.perf_counter()
    for number in range(options.comments):
        comment(server, subject, number)
    sockets.read(options.subscribers * options.comments, lambda *_: None)
    rate = options.subscribers * options.comments / (time.perf_counter() - began)
    print(f"{options.subscribers} subscribers of a post, {name}: told after {1e3 * statistics.median(times):.0f} ms,"
          f" 99 % after {1e3 * times[int(0.99 * len(times))]:.0f} ms; {rate:.0f} a second")
    sockets.close()
    wait_for_hearing(options, 0)


def main():
    parser = argparse.ArgumentParser(prog="script/live-load", description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", default=".build/release/sociograph", help="the build that is measured")
    parser.add_argument("--data", default=".sociograph-bench-small", help="data directory of the cluster")
    parser.add_argument("--sockets", type=int, default=10_000, help="that are idle (default 10000)")
    parser.add_argument("--subscribers", type=int, default=1_000, help="of one post (default 1000)")
    parser.add_argument("--comments", type=int, default=20, help="on it, of each kind (default 20)")
    parser.add_argument("--port", type=int, default=18095, help="and the next one, for operators")
    parser.add_argument("--log", default=os.devnull, help="where the server's words go")
    options = parser.parse_args()
    wanted = max(options.sockets, options.subscribers) + 200
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < wanted:
        sys.exit(f"live: {wanted} descriptors are needed, and ulimit -Hn is {most}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    if not os.path.exists(options.data):
        graph.say("loading a graph of scale 1")
        subprocess.run([options.program, "seed", "--scale", "1", "--data", options.data],
                       check=True, stdout=subprocess.DEVNULL)
    log = open(options.log, "w")
    server = graph.Server(
        options.program,
        ["--data", options.data, "--shutdown-delay", "0s", "--admin-listen", f"127.0.0.1:{options.port + 1}",
         "--maximum-sockets", str(wanted), "--maximum-sockets-per-address", str(wanted)], options.port,
        log=log)
    try:
        posts = server.execute("{ posts(first: 1, filter: {kinds: [TEXT]}) { nodes { id } } }", token=TOKEN)
        subject = posts["posts"]["nodes"][0]["id"]
        idle(options, server, subject)
        told(options, server, subject, "all the same answer", None)
        told(options, server, subject, "each its own answer", sessions(options, options.subscribers))
    finally:
        server.stop()


if __name__ == "__main__":
    main()
