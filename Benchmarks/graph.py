"""Requests per second of `sociograph serve` over transactions per second of pgbench.

Each showcase read is sent by `sociograph load`, faster than the server answers; beside it pgbench -M prepared runs the
statement that `sociograph explain` prints for it, with the server's own planner settings, against
the same embedded cluster. The two alternate, so that a noisy machine disturbs both alike; ratios are
medians over the rounds.

CPU is the time of everything that works for one request or transaction: PostgreSQL, the client and,
on our side, the server. On a machine with other work to do its ratio says more than the rates, since
the system shares the cores by process: pgbench then has 32 backends in the race and we have a handful.
User and kernel time are the server's own, per request. "Own" is its user time when each statement is
asked once and answered with a copy of that from then on: the request path from bytes to bytes, without
PostgreSQL and libpq's talk with it, and without the system's part of sockets.
"""

import argparse
import glob
import json
import os
import re
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

from saturation import Load

OPERATIONS = "Tests/Fixtures/showcase"
PLANNER = "-c plan_cache_mode=force_generic_plan -c jit=off -c search_path=graph"
TARGETS = {"Q01": 0.8, "Q02": 1.0, "Q04": 1.0, "Q06": 1.0, "Q12": 1.0, "Q14": 1.0}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Server:
    """`sociograph serve`; `database` are the options that say where its database is, `log` takes its log, and `ready`
    is an address that says when it is ready, if not its own."""

    def __init__(self, program, database, port, log=None, ready=None):
        self.url = f"http://127.0.0.1:{port}/graphql"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                sys.exit(f"bench: something else listens on port {port}; give another --port")
        self.process = subprocess.Popen(
            [program, "serve", *database, "--listen", f"127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=log)
        for _ in range(600):
            if self.process.poll() is not None:
                sys.exit("bench: the server ended before it was ready")
            try:
                urllib.request.urlopen(ready or f"http://127.0.0.1:{port}/ready", timeout=1).read()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("bench: the server did not become ready")

    @classmethod
    def recorded(cls, program, connection, port):
        """A server that asks PostgreSQL each statement once."""
        server = cls.__new__(cls)
        server.url = f"http://127.0.0.1:{port}/graphql"
        server.process = subprocess.Popen(
            [program, f"{connection} options='-c search_path=graph'", str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if server.process.stdout.readline().strip() != b"ready":
            sys.exit("bench: the server with recorded answers did not become ready")
        return server

    def execute(self, query, variables=None, token=None):
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        body = json.dumps({"query": query, "variables": variables or {}}).encode()
        answer = json.load(urllib.request.urlopen(urllib.request.Request(self.url, body, headers)))
        if "errors" in answer:
            sys.exit(f"bench: {answer['errors']}")
        return answer["data"]

    def cpu_seconds(self):
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        ticks = os.sysconf("SC_CLK_TCK")
        return int(fields[11]) / ticks, int(fields[12]) / ticks

    def resident_megabytes(self):
        status = open(f"/proc/{self.process.pid}/status").read()
        return {
            name: int(re.search(rf"{name}:\s+(\d+)", status).group(1)) / 1024
            for name in ("VmRSS", "VmHWM")
        }

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


def variables(server, token):
    """Variables that mean something in the graph at hand."""
    found = server.execute("""{
      posts(filter: {kinds: [OUTFIT]}, orderBy: TOP, first: 1) { nodes { id } }
      locations(filter: {levels: [PLACE]}, first: 1) {
        nodes { id gmapsId coordinates { latitude longitude } } }
      users(first: 1) { nodes { id } } products(first: 1) { nodes { id } }
      circles(first: 1) { nodes { id } } }""", token=token)
    first = {name: connection["nodes"][0] for name, connection in found.items()}
    changes = server.execute("{ changes { token } }", token=token)["changes"]["token"]
    here = {"center": first["locations"]["coordinates"], "radiusMeters": 25000}
    day = 86400
    instant = lambda days: time.strftime(
        "%Y-%m-%dT00:00:00Z", time.gmtime(time.time() + days * day))
    post = first["posts"]["id"]
    return {
        "Q01": {"username": "marisol"},
        "Q02": {"ids": [first[name]["id"] for name in
                        ("posts", "locations", "users", "products", "circles")]},
        "Q04": {"id": post},
        "Q05": {"id": post, "first": 50, "after": None},
        "Q06": {"id": post, "last": 20, "before": None},
        "Q09": {"filter": {"kinds": ["CARD_OFFER", "CARD_REQUEST"], "isOpen": True,
                           "sendsToId": first["locations"]["id"], "search": "postcard"},
                "after": None},
        "Q12": {"gmapsId": first["locations"]["gmapsId"], "after": None},
        "Q13": {"here": here, "placeTypes": ["NATURE", "MUSEUM"], "minReviews": 1},
        "Q16": {"from": instant(-2), "to": instant(5)},
        "Q18": {"training": "PERSONAL", "from": instant(0), "to": instant(1)},
        "Q19": {"since": changes},
        "Q20": {"here": here},
    }


def places(data):
    """Where the embedded cluster may be that is running."""
    for place in (data, *glob.glob("/var/lib/sociograph/*")):
        if os.path.exists(os.path.join(place, "postgres", "postmaster.pid")):
            yield place


def cluster(data):
    """How to reach the embedded cluster: libpq keywords."""
    for place in places(data):
        lines = open(os.path.join(place, "postgres", "postmaster.pid")).read().splitlines()
        return f"host={lines[4]} port={lines[3]} user=sociograph dbname=sociograph"
    sys.exit("bench: the embedded cluster was not found")


def postgres_seconds(data):
    """CPU time of a cluster: its postmaster, what it reaped, and its living children."""
    place = next(places(data))
    postmaster = open(os.path.join(place, "postgres", "postmaster.pid")).readline().strip()
    ticks = 0
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            text = open(stat).read()
        except OSError:
            continue
        fields = text.rsplit(")", 1)[1].split()
        pid = text.split(" ", 1)[0]
        if pid == postmaster:
            ticks += sum(int(field) for field in fields[11:15])
        elif fields[1] == postmaster:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def children_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pgbench_script(plan, path):
    """The statement with pgbench's variables for $1, $2, ...; nulls are written out."""
    values = {parameter["number"]: parameter["value"] for parameter in plan["parameters"]}
    text = re.sub(
        r"\$(\d+)",
        lambda found: "NULL" if values[int(found[1])] is None else f":p{found[1]}",
        plan["statement"])
    with open(path, "w") as file:
        file.write(text.replace("\n", " ") + ";\n")
    return [f"-Dp{number}={value}" for number, value in values.items() if value is not None]


def run_load(server, data, clients, seconds, load):
    before = server.cpu_seconds()
    others = postgres_seconds(data) + children_seconds()
    rate, requests = load.run(server.url, clients, seconds)
    after = server.cpu_seconds()
    others = postgres_seconds(data) + children_seconds() - others
    user, system = (1e6 * (b - a) / max(requests, 1) for a, b in zip(before, after))
    return rate, user, system, user + system + 1e6 * others / max(requests, 1)


def run_pgbench(connection, data, clients, seconds, script, defines):
    before = postgres_seconds(data) + children_seconds()
    output = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", f"-c{clients}", "-j1", f"-T{seconds}", "-f", script,
         *defines, connection],
        capture_output=True, text=True, env={**os.environ, "PGOPTIONS": PLANNER})
    found = re.search(r"tps = ([\d.]+) \(without", output.stdout)
    if not found:
        sys.exit(f"bench: pgbench failed\n{output.stdout}{output.stderr}")
    time.sleep(0.3)  # until the postmaster has reaped the backends
    after = postgres_seconds(data) + children_seconds()
    count = int(re.search(r"transactions actually processed: (\d+)", output.stdout).group(1))
    return float(found.group(1)), 1e6 * (after - before) / max(count, 1)


def main():
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--data", default=".sociograph-bench", help="data directory of the cluster")
    parser.add_argument("--scale", type=int, default=20, help="scale of the graph (default 20)")
    parser.add_argument("--seconds", type=int, default=5, help="of each run (default 5)")
    parser.add_argument("--rounds", type=int, default=3, help="of both, alternating (default 3)")
    parser.add_argument("--clients", type=int, default=32, help="of both (default 32)")
    parser.add_argument("--port", type=int, default=18080)
    parser.add_argument("--operations", default="", help="such as Q01,Q14; all without it")
    options = parser.parse_args()
    options.compiled = {}

    if not os.path.exists(options.data):
        say(f"loading a graph of scale {options.scale}")
        subprocess.run(
            [options.program, "seed", "--scale", str(options.scale), "--data", options.data],
            check=True, stdout=subprocess.DEVNULL)
    server = Server(options.program, ["--data", options.data], options.port)
    try:
        measure(options, server)
    finally:
        server.stop()


def measure(options, server):
    token = "demo-marisol"
    given = variables(server, token)
    connection = cluster(options.data)
    recorded = Server.recorded(
        os.path.join(os.path.dirname(options.program), "benchmark-requests"), connection,
        options.port + 1)
    try:
        measure_all(options, server, recorded, token, given, connection)
    finally:
        recorded.stop()
    memory = server.resident_megabytes()
    slowest = max(options.compiled, key=options.compiled.get)
    print("parsed, validated and planned for the first time: "
          + ", ".join(f"{name.split('_')[0]} {time} µs" for name, time in options.compiled.items()
                      if name.startswith("Q14") or name == slowest))
    print(f"resident memory: {memory['VmRSS']:.0f} MB, at most {memory['VmHWM']:.0f} MB")


def document(folder):
    """The text of a showcase read."""
    with open(os.path.join(folder, "operation.graphql")) as file:
        return file.read()


def showcase(operations):
    """Folder and name of each showcase read that is wanted: such as "Q01,Q14", all without any."""
    wanted = [name for name in operations.split(",") if name]
    for folder in sorted(glob.glob(f"{OPERATIONS}/Q*")):
        name = os.path.basename(folder)
        if not wanted or name.split("_")[0] in wanted:
            yield folder, name


def values_of(folder, name, given):
    """The variables of a showcase read."""
    values = given.get(name.split("_")[0])
    return json.load(open(os.path.join(folder, "variables.json"))) if values is None else values


def request(folder, name, given):
    """The request of a showcase read."""
    return {"query": document(folder), "variables": values_of(folder, name, given)}


def load_of(program, folder, name, given, token, work):
    """The load of a showcase read, in a folder within `work`."""
    return Load(program, os.path.join(work, name), document(folder), values_of(folder, name, given), [token])


def measure_all(options, server, recorded, token, given, connection):
    print(f"{'operation':<24}{'requests/s':>12}{'pgbench/s':>12}{'ratio':>8}{'target':>8}"
          f"{'CPU µs':>9}{'pgbench':>9}{'ratio':>8}{'user µs':>9}{'kernel µs':>11}{'own µs':>8}")
    with tempfile.TemporaryDirectory() as work:
        for folder, name in showcase(options.operations):
            measure_one(
                options, server, recorded, connection, token, given, folder, name, work)


def measure_one(
        options, server, recorded, connection, token, given, folder, name, work):
    values = values_of(folder, name, given)
    variables_file = os.path.join(work, "variables.json")
    json.dump(values, open(variables_file, "w"))
    plan = json.loads(subprocess.run(
        [options.program, "explain", os.path.join(folder, "operation.graphql"), "--variables", variables_file, "--viewer", "marisol",
         "--database", connection, "--format", "json"],
        capture_output=True, text=True, check=True).stdout)
    options.compiled[name] = plan["preparedInMicroseconds"]
    script = os.path.join(work, "statement.sql")
    defines = pgbench_script(plan, script)
    load = load_of(options.program, folder, name, given, token, work)
    run_load(server, options.data, options.clients, 1, load)
    rates, transactions, ratios, user, system, ours, theirs = [], [], [], [], [], [], []
    for _ in range(options.rounds):
        rate, u, s, cpu = run_load(
            server, options.data, options.clients, options.seconds, load)
        tps, cost = run_pgbench(
            connection, options.data, options.clients, options.seconds, script, defines)
        rates.append(rate)
        transactions.append(tps)
        ratios.append(rate / tps)
        ours.append(cpu)
        theirs.append(cost)
        user.append(u)
        system.append(s)
    alone = load_of(options.program, folder, name, given, token, os.path.join(work, "recorded"))
    run_load(recorded, options.data, options.clients, 1, alone)
    own = run_load(recorded, options.data, options.clients, 2, alone)[1]
    median = statistics.median
    target = TARGETS.get(name.split("_")[0])
    print(f"{name:<24}{median(rates):>12.0f}{median(transactions):>12.0f}{median(ratios):>8.2f}"
          f"{target if target else '':>8}{median(ours):>9.0f}{median(theirs):>9.0f}"
          f"{median(theirs) / median(ours):>8.2f}{median(user):>9.1f}{median(system):>11.1f}"
          f"{own:>8.1f}",
          flush=True)


if __name__ == "__main__":
    main()
