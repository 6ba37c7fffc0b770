"""Compares the figures of sociograph load with a server whose laws are known.

Each check starts the server of this file on a free port, runs the program against it, and compares. The checks take
their time from clocks, so they are no tests: a busy machine makes the generator late, which the program says itself.
"""
import argparse
import asyncio
import json
import math
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import outage

ANSWER = b'{"data":{"a":1}}'


class Law:
    """When a request that arrives is answered, and which times it tells."""

    def __init__(self, name, value):
        self.name, self.value = name, value
        self.random = random.Random(7)
        self.began = time.monotonic()
        self.free = 0.0
        self.sojourns = []

    def answer(self, now):
        """Returns the time of the answer, and the parts of Server-Timing in seconds."""
        if self.name == "stall":
            phase = (now - self.began) % 10
            return (now + 10 - phase if phase > 9 else now), {}
        if self.name in ("queue", "mm1"):
            service = 1 / self.value if self.name == "queue" else self.random.expovariate(self.value)
            start = max(now, self.free)
            self.free = start + service
            return self.free, {"wait": start - now, "postgresql": service}
        if self.name == "constant":
            return now + self.value * self.random.lognormvariate(0, 0.05), {}
        return now, {"write": 0.0}


class Connection(asyncio.Protocol):
    def __init__(self, law):
        self.law, self.bytes, self.count = law, b"", 0

    def connection_made(self, transport):
        self.transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data):
        self.bytes += data
        end = self.bytes.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.bytes[:end].lower()
        place = head.find(b"content-length:")
        length = int(head[place + 15:].split(b"\r\n")[0])
        if len(self.bytes) < end + 4 + length:
            return
        self.bytes = self.bytes[end + 4 + length:]
        now = time.monotonic()
        at, parts = self.law.answer(now)
        loop = asyncio.get_running_loop()
        if at <= now:
            self.answer(now, parts)
        else:
            loop.call_at(at, self.answer, now, parts)

    def answer(self, arrived, parts):
        self.count += 1
        self.law.sojourns.append(time.monotonic() - arrived)
        ends = self.count % 1000 == 0
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % len(ANSWER)
        if parts:
            total = time.monotonic() - arrived
            text = ", ".join([f"total;dur={total * 1e3:.3f}"] + [f"{n};dur={v * 1e3:.3f}" for n, v in parts.items()])
            head += b"Server-Timing: " + text.encode() + b"\r\n"
        if ends:
            head += b"Connection: close\r\n"
        if not self.transport.is_closing():
            self.transport.write(head + b"\r\n" + ANSWER)
            if ends:
                self.transport.close()


async def serve(law, ledger):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(law), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    with open(ledger, "w") as file:
        json.dump(law.sojourns, file)


class Server:
    """The server of a law, in a process of its own."""

    def __init__(self, folder, law, value=0.0):
        self.ledger = f"{folder}/{law}-{time.time_ns()}.json"
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", law, "--value", str(value), "--ledger", self.ledger],
            stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/graphql"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def sojourns(self):
        self.__exit__()
        with open(self.ledger) as file:
            return sorted(json.load(file))


# One object each, whose statement takes 5 ms, 20 ms asleep, or 2 ms of the processor.
PLANTED = {
    "pool": """type Query { probe: Probe @reference(from: "(SELECT 1 AS id, pg_sleep(0.005))") }
type Probe { id: Int! @sql(expression: "1") }""",
    "sleep": """type Query { probe: Probe @reference(from: "(SELECT 1 AS id, pg_sleep(0.02))") }
type Probe { id: Int! @sql(expression: "1") }""",
    "core": """type Query {
  probe: Probe @reference(from: "(SELECT count(md5(n::text)) AS id FROM generate_series(1, 4000) n)")
}
type Probe { id: Int! @sql(expression: "this.id") }""",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=1).read()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("load-check: the server did not become ready")


class Check:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.mix = folder + "/mix"
        os.makedirs(self.mix, exist_ok=True)
        with open(self.mix + "/Q.graphql", "w") as file:
            file.write("query Q { a }")
        self.failures = 0

    def load(self, *arguments, compare=False):
        return self.load_of(self.mix, *arguments, compare=compare)

    def load_of(self, mix, *arguments, compare=False):
        save = f"{self.folder}/out.json"
        words = [self.program, "load"] + (["compare"] if compare else []) + [mix, "--save", save, *arguments]
        run = subprocess.run(words, capture_output=True, text=True)
        with open(save) as file:
            return run.returncode, json.load(file), run

    def near(self, name, found, expected, share, least=0.0):
        isNear = abs(found - expected) <= max(expected * share, least)
        self.failures += not isNear
        print(f"{'ok  ' if isNear else 'FAIL'} {name}: {found:.2f}, expected {expected:.2f} ±{share:.0%}", flush=True)

    def true(self, name, value, text=""):
        self.failures += not value
        print(f"{'ok  ' if value else 'FAIL'} {name} {text}", flush=True)

    def stall(self):
        with Server(self.folder, "stall") as server:
            _, result, _ = self.load("--url", server.url, "--rate", "100", "--arrivals", "even", "--duration", "20s",
                                     "--warm-up", "1s")
        latency = result["totals"]["latency_ms"]
        for name, expected in (("p95", 500), ("p99", 900), ("p99.9", 990)):
            self.near("stall " + name, latency[name], expected, 0.03)
        self.true("stall p50", latency["p50"] < 5, f"{latency['p50']:.2f} ms")

    def mm1(self):
        server = Server(self.folder, "mm1", 50.0)
        _, result, _ = self.load("--url", server.url, "--rate", "25", "--duration", "30s", "--warm-up", "0s")
        sojourns = server.sojourns()
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
            own = sojourns[math.ceil(len(sojourns) * share) - 1] * 1e3
            self.near("mm1 " + name, result["totals"]["latency_ms"][name], own, 0.03, least=2)

    def split(self):
        with Server(self.folder, "queue", 400.0) as server:
            _, result, _ = self.load("--url", server.url, "--rate", "300", "--duration", "10s", "--warm-up", "0s")
        parts = result["totals"]["split"]["mean_ms"]
        self.near("split sum", sum(parts.values()), result["totals"]["latency_ms"]["mean"], 0.001)
        self.near("split postgresql", parts["postgresql"], 2.5, 0.01)

    def knee(self):
        with Server(self.folder, "queue", 300.0) as server:
            _, result, _ = self.load("--url", server.url, "--find-knee", "--arrivals", "even", "--step", "4s",
                                     "--rates", "50..2000", "--warm-up", "0s")
        knee = result["knee"]
        self.true("knee found", knee["found"], knee["limit"]["evidence"])
        self.near("knee rate", knee["rate_per_s"] or 0, 300, 0.05)
        self.true("knee resource", knee["limit"]["resource"] == "connections", knee["limit"]["resource"])

    def planted(self, name, wanted, options, generator=None):
        """The knee of a server whose limit is known: one short statement, by even arrivals.

        The generator runs on the cores `generator`, if given; all else on those of this process."""
        mix = f"{self.folder}/planted"
        os.makedirs(mix, exist_ok=True)
        with open(mix + "/P.graphql", "w") as file:
            file.write("query P { probe { id } }")
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            os.chmod(folder, 0o755)
            cluster = outage.Cluster(folder)
            port = free_port()
            os.makedirs(folder + "/schema")
            with open(folder + "/schema/graph.graphql", "w") as file:
                file.write(PLANTED[name])
            server = subprocess.Popen(
                [self.program, "serve", "--schema", folder + "/schema", "--database", cluster.url,
                 "--listen", f"127.0.0.1:{port}", "--server-timing", "all", "--rate-limit", "off",
                 "--rate-limit-address", "off", "--slow-operation", "off", "--shutdown-delay", "0s", *options],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                wait_for(port)
                if generator:
                    os.sched_setaffinity(0, generator)
                _, result, _ = self.load_of(
                    mix, "--url", f"http://127.0.0.1:{port}/graphql", "--find-knee", "--arrivals", "even",
                    "--step", "4s", "--rates", "20..20000", "--warm-up", "1s", "--connections", "190")
            finally:
                server.terminate()
                server.wait()
                cluster.stop()
        knee = result["knee"]
        self.true(f"planted {name}", knee["found"] and knee["limit"]["resource"] in wanted,
                  f"{knee['rate_per_s'] or 0:.0f}/s, {knee['limit']['resource']}: {knee['limit']['evidence']}")

    def pool(self):
        self.planted("pool", {"connections"}, ["--loops", "1", "--pool-size", "1"])

    def sleep(self):
        self.planted("sleep", {"postgresql", "connections"}, ["--loops", "1", "--pool-size", "4"])

    def core(self):
        """The server and PostgreSQL share one core; the generator has the others."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        try:
            self.planted("core", {"server", "postgresql"}, ["--loops", "1"], generator=before - {min(before)})
        finally:
            os.sched_setaffinity(0, before)

    def same(self):
        self.compare("same", 1.0)

    def slower(self):
        self.compare("slower", 1.05)

    def compare(self, verdict, factor):
        options = ["--rate", "75", "--duration", "8s", "--warm-up", "1s"]
        with Server(self.folder, "constant", 0.02) as a, Server(self.folder, "constant", 0.02 * factor) as b:
            _, result, run = self.load("--url", a.url, "--against", b.url, *options, compare=True)
        self.true(f"compare {verdict}", result["verdict"] == verdict, run.stdout.strip().splitlines()[0])

    def starved(self):
        with Server(self.folder, "fast") as server:
            save = f"{self.folder}/out.json"
            process = subprocess.Popen(
                [self.program, "load", self.mix, "--url", server.url, "--rate", "200", "--duration", "6s",
                 "--warm-up", "0s", "--save", save], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(2)
            for _ in range(3):
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.3)
                process.send_signal(signal.SIGCONT)
                time.sleep(0.5)
            code = process.wait()
            with open(save) as file:
                valid = json.load(file)["validity"]["valid"]
        self.true("starved", code == 3 and not valid, f"exit {code}")

    def cpu(self):
        with Server(self.folder, "fast") as server:
            _, result, _ = self.load("--url", server.url, "--rate", "2000", "--duration", "10s", "--warm-up", "2s")
        cost = result["validity"]["generator_cores"] / result["totals"]["offered_per_s"] * 1e6
        self.true("cpu", cost <= 40, f"{cost:.1f} us a request")

    def interrupt(self):
        with Server(self.folder, "constant", 3600.0) as server:
            process = subprocess.Popen(
                [self.program, "load", self.mix, "--url", server.url, "--rate", "50", "--duration", "1m",
                 "--warm-up", "0s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(2)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            code = process.wait()
            took = time.monotonic() - began
        self.true("interrupt", code == 130 and took < 6, f"exit {code} after {took:.1f} s")


CHECKS = ["stall", "mm1", "split", "knee", "pool", "sleep", "core", "same", "slower", "starved", "cpu", "interrupt"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=".build/release/sociograph", help="the program to check")
    parser.add_argument("--check", action="append", choices=CHECKS, help="only this one; may be repeated")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="repeat each check N times and count (1)")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    parser.add_argument("--value", type=float, default=0.0, help=argparse.SUPPRESS)
    parser.add_argument("--ledger", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return asyncio.run(serve(Law(options.serve, options.value), options.ledger))
    with tempfile.TemporaryDirectory() as folder:
        check = Check(options.program, folder)
        for name in options.check or CHECKS:
            passed = 0
            for _ in range(options.repeat):
                before = check.failures
                getattr(check, name)()
                passed += check.failures == before
            if options.repeat > 1:
                print(f"{name}: {passed} of {options.repeat} passed", flush=True)
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
