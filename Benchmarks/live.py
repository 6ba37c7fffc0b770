"""What sockets with subscriptions cost, and how soon they are told: a line for each figure, wanted and seen.

Idle sockets with a subscription each, in clear and through TLS: the server's own memory for one. Subscribers of one post,
nobody of them signed in, so that all are told the same, or each of them somebody else: the time from the request that
makes a comment until each has been told, and how many are told in a second while comments come as fast as they can. Q02
beside subscribers who are told 5,000 times a second, and writers beside subscribers who hear nothing, each as part of
its rate without. The idle sockets coming back at once after a restart, while Q02 is asked.

Everything runs on this machine, this client included, which is Python and takes part of the times.
"""

import argparse
import concurrent.futures
import hashlib
import http.client
import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import graph
from saturation import Load
from sockets import Sockets

TOKEN = "demo-marisol"
SHARED = "subscription($id: ID!) { commentAdded(subjectId: $id) { id body author { displayName } } }"
PERSONAL = "subscription($id: ID!) { commentAdded(subjectId: $id) { id body } }"
COMMENT = "mutation($id: ID!, $body: String!) { addComment(subjectId: $id, body: $body) { __typename } }"


class Server(graph.Server):
    """With an address for operators, on the next port, that says when it is ready."""

    def __init__(self, options, certificate=None):
        self.port = options.port
        sockets = str(options.sockets + options.subscribers + 1000)
        arguments = [
            "--data", options.data, "--admin-listen", f"127.0.0.1:{self.port + 1}", "--shutdown-delay", "0s",
            "--rate-limit", "off", "--maximum-connections", sockets, "--maximum-connections-per-address", sockets]
        if certificate:
            arguments += ["--tls-certificate", certificate + ".crt", "--tls-key", certificate + ".key"]
        super().__init__(
            options.program, arguments, self.port, open(options.log, "a"), f"http://127.0.0.1:{self.port + 1}/ready")

    def metric(self, name):
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.port + 1}/metrics").read().decode()
        return next(int(float(line.split()[-1])) for line in text.splitlines() if line.startswith(name + " "))

    def wait_for_hearing(self, sockets, wait=240):
        """Until all sockets hear, and nobody else."""
        count, end = len(sockets.clients), time.perf_counter() + wait
        while time.perf_counter() < end:
            if self.metric("sociograph_subscriptions") == count and not self.metric(
                    "sociograph_subscriptions_starting"):
                return
            sockets.idle(0.02)
        sys.exit(f"live: {self.metric('sociograph_subscriptions')} subscriptions hear, not {count}")

    def kilobytes(self):
        return 1024 * self.resident_megabytes()["VmRSS"]


class Helper:
    """A process that does what it is told, so that whoever reads sockets is not held up by it."""

    def __init__(self, work):
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=self.run, args=(other, work), daemon=True)
        self.process.start()

    @staticmethod
    def run(pipe, work):
        while True:
            pipe.send(work(*pipe.recv()))

    def start(self, *arguments):
        self.pipe.send(arguments)

    def result(self):
        return self.pipe.recv()


def ask(connection, document, variables, token=TOKEN, key=None):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    if key:
        headers["Idempotency-Key"] = key
    connection.request("POST", "/graphql", json.dumps({"query": document, "variables": variables}), headers)
    answer = json.load(connection.getresponse())
    if answer.get("data") is None or "errors" in answer:
        raise ValueError(f"{answer}")


def comments(port, subject, first, count, rate, writers):
    """Makes comments with numbers; gives when each was asked for."""
    began = {}
    start = time.perf_counter()

    def write(writer):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for number in range(first + writer, first + count, writers):
            if rate:
                time.sleep(max(0, start + (number - first) / rate - time.perf_counter()))
            began[number] = time.perf_counter()
            ask(connection, COMMENT, {"id": subject, "body": f"comment {number}"},
                key=f"live-{os.getpid()}-{number}-{time.time_ns()}")

    with concurrent.futures.ThreadPoolExecutor(writers) as pool:
        list(pool.map(write, range(writers)))
    return began


def refetches(port, body, end):
    """Sends Q02 again and again, until a time; gives how long each took that was answered."""
    connection, times = None, []
    while time.perf_counter() < end:
        began = time.perf_counter()
        try:
            connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            ask(connection, body["query"], body["variables"])
            times.append((began, time.perf_counter() - began))
            time.sleep(0.02)
        except (OSError, ValueError, http.client.HTTPException):
            connection = None
            time.sleep(0.05)
    return times


def sessions(options, name, count):
    """Tokens of so many people, made by the database's owner."""
    tokens = [f"live-{os.getpid()}-{name}-{number}" for number in range(count)]
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


class Load:
    def __init__(self, options, work):
        self.options = options
        self.work = work
        self.commenter = Helper(comments)
        self.asker = Helper(refetches)
        self.made = 0
        self.server = Server(options)
        posts = self.server.execute("{ posts(first: 40, filter: {kinds: [TEXT]}) { nodes { id } } }", token=TOKEN)
        self.subject, *self.others = (post["id"] for post in posts["posts"]["nodes"])
        folder, name = next(graph.showcase("Q02"))
        self.body = {
            "query": graph.document(folder),
            "variables": graph.values_of(folder, name, graph.variables(self.server, TOKEN))}

    def sockets(self, tls=False):
        return Sockets(self.options.port, tls)

    def open(self, sockets, count, document=SHARED, **options):
        sockets.open(count, document, {"id": self.subject}, **options)
        self.server.wait_for_hearing(sockets)

    def close(self, sockets):
        sockets.close()
        self.server.wait_for_hearing(sockets)

    def comment(self, count, rate=None, writers=1):
        self.commenter.start(self.options.port, self.subject, self.made, count, rate, writers)
        self.made += count

    # The figures

    def row(self, figure, wanted, seen, is_met):
        print(f"{figure:<66}{wanted:>14}{seen:>16}{'' if is_met else '   MISSED'}", flush=True)

    def idle(self, way, wanted):
        sockets = self.sockets(tls=way == "TLS")
        # What a first few take is not of the sockets.
        self.open(sockets, 100)
        before = self.server.kilobytes()
        self.open(sockets, self.options.sockets)
        sockets.idle(self.options.quiet)
        each = (self.server.kilobytes() - before) / self.options.sockets
        self.row(f"memory of each of {self.options.sockets} idle sockets, {way}", f"{wanted} KiB", f"{each:.1f} KiB",
                 each <= wanted)
        self.close(sockets)

    def told(self, name, document, tokens, wanted, rate):
        count = self.options.subscribers
        sockets = self.sockets()
        self.open(sockets, count, document, tokens=tokens)
        # The first ones find plans and connections that nobody has used.
        for _ in range(5):
            self.comment(1)
            sockets.read(count, lambda message: None)
            self.commenter.result()
        times = []
        for _ in range(self.options.comments):
            heard = []
            self.comment(1)
            sockets.read(count, lambda message: heard.append(time.perf_counter()))
            began = next(iter(self.commenter.result().values()))
            times += [moment - began for moment in heard]
        times.sort()
        late = 1e3 * times[int(0.99 * len(times))]
        self.row(f"{count} subscribers of a post, {name}: 99 % told within", f"{wanted} ms", f"{late:.0f} ms",
                 late <= wanted)
        rates = []
        for _ in range(self.options.rounds):
            self.comment(self.options.burst, writers=32)
            began = time.perf_counter()
            sockets.count(count * self.options.burst)
            rates.append(count * self.options.burst / (time.perf_counter() - began))
            self.commenter.result()
        seen = statistics.median(rates)
        self.row(f"told in a second, {name}", f"{rate}", f"{seen:.0f}", seen >= rate)
        self.close(sockets)

    def rate(self, load, clients=32):
        return load.run(self.server.url, clients, self.options.seconds)[0]

    def refetch_beside_deliveries(self):
        load = Load(
            self.options.program, os.path.join(self.work, "reads"), self.body["query"], self.body["variables"],
            [TOKEN])
        sockets = self.sockets()
        self.open(sockets, self.options.subscribers)
        each = 5000 // self.options.subscribers
        ratios = []
        self.rate(load)
        for _ in range(self.options.rounds):
            without = self.rate(load)
            rates = []
            asking = threading.Thread(target=lambda: rates.append(self.rate(load)))
            comments = each * self.options.seconds
            self.comment(comments, rate=each, writers=2)
            asking.start()
            sockets.count(comments * self.options.subscribers)
            asking.join()
            self.commenter.result()
            ratios.append(rates[0] / without)
        seen = statistics.median(ratios)
        self.row("Q02 beside 5000 deliveries a second, of its rate without", "0.80", f"{seen:.2f}", seen >= 0.8)
        self.close(sockets)

    def writers_beside_silence(self):
        load = Load(
            self.options.program, os.path.join(self.work, "writers"), COMMENT,
            {"id": {"$pool": "post"}, "body": "of a writer"}, sessions(self.options, "writer", 64),
            {"post": {"values": self.others}})
        run = lambda: self.rate(load)
        ratios = []
        run()
        for number in range(2 * self.options.rounds):
            rates = {}
            # In turns, who comes first.
            for listens in (False, True) if number % 2 else (True, False):
                sockets = self.sockets()
                if listens:
                    self.open(sockets, self.options.subscribers)
                rates[listens] = run()
                self.close(sockets)
            ratios.append(rates[True] / rates[False])
        seen = statistics.median(ratios)
        self.row(f"writers beside {self.options.subscribers} silent subscribers, of their rate without", "0.95",
                 f"{seen:.2f}", seen >= 0.95)

    def come_back(self):
        count = self.options.sockets
        sockets = self.sockets()
        self.open(sockets, count)
        self.server.stop()
        sockets.drain()
        began = time.perf_counter()
        self.asker.start(self.options.port, self.body, began + 60)
        starting = threading.Thread(target=lambda: setattr(self, "server", Server(self.options)))
        starting.start()
        sockets.open(count, SHARED, {"id": self.subject}, at_once=count, patience=120)
        starting.join()
        self.server.wait_for_hearing(sockets)
        seen = time.perf_counter() - began
        self.row(f"{count} that come back after a restart all hear after", "30 s", f"{seen:.1f} s", seen <= 30)
        times = [length for start, length in self.asker.result() if start < began + seen]
        slowest = max(times, default=float("inf"))
        self.row(f"Q02 meanwhile: answers, and the slowest ({sockets.refused} sockets tried again)", "answered",
                 f"{len(times)}, {1e3 * slowest:.0f} ms", bool(times))
        self.close(sockets)

    def encrypt(self):
        self.server.stop()
        path = os.path.join(self.work, "tls")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-keyout", path + ".key", "-out", path + ".crt"],
            check=True, stderr=subprocess.DEVNULL)
        self.server = Server(self.options, path)


def run(options, load):
    wanted = [name for name in options.only.split(",") if name]
    is_wanted = lambda name: not wanted or name in wanted
    if is_wanted("idle"):
        load.idle("in clear", 6)
    if is_wanted("shared"):
        load.told("all the same", SHARED, None, 50, 100_000)
    if is_wanted("personal"):
        tokens = sessions(options, "listener", options.subscribers)
        load.told("each its own", PERSONAL, tokens, 200, 20_000)
    if is_wanted("reads"):
        load.refetch_beside_deliveries()
    if is_wanted("writes"):
        load.writers_beside_silence()
    if is_wanted("back"):
        load.come_back()
    if is_wanted("tls"):
        load.encrypt()
        load.idle("TLS", 20)


def main():
    parser = argparse.ArgumentParser(prog="script/live-load", description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", default=".build/release/sociograph", help="the build that is measured")
    parser.add_argument("--data", default=".sociograph-bench-small", help="data directory of the cluster")
    parser.add_argument("--sockets", type=int, default=10_000, help="that are idle (default 10000)")
    parser.add_argument("--quiet", type=int, default=20, help="seconds that they are idle before (default 20)")
    parser.add_argument("--subscribers", type=int, default=1_000, help="of one post (default 1000)")
    parser.add_argument("--comments", type=int, default=40, help="on it, one after the other (default 40)")
    parser.add_argument("--burst", type=int, default=200, help="as fast as they can (default 200)")
    parser.add_argument("--seconds", type=int, default=5, help="of each run (default 5)")
    parser.add_argument("--rounds", type=int, default=3, help="of what is compared (default 3)")
    parser.add_argument("--only", default="", help="of idle,shared,personal,reads,writes,back,tls; all without it")
    parser.add_argument("--port", type=int, default=18095, help="and the next one, for operators")
    parser.add_argument("--log", default=os.devnull, help="where the server's words go")
    options = parser.parse_args()
    wanted = options.sockets + options.subscribers + 1500
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < wanted:
        sys.exit(f"live: {wanted} descriptors are needed, and ulimit -Hn is {most}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    if not os.path.exists(options.data):
        graph.say("loading a graph of scale 1")
        subprocess.run([options.program, "seed", "--scale", "1", "--data", options.data],
                       check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as work:
        load = Load(options, work)
        try:
            run(options, load)
        finally:
            load.server.stop()


if __name__ == "__main__":
    main()
