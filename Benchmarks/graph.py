"""Requests per second of `sociograph serve` over transactions per second of pgbench.

Each showcase read is sent by wrk from keep-alive clients; beside it pgbench -M prepared runs the
statement that `sociograph explain` prints for it, with the server's own planner settings, against
the same embedded cluster. The two alternate, so that a noisy machine disturbs both alike; ratios are
medians over the rounds. CPU is user and system time of the server's process per request.
"""

import argparse
import glob
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

OPERATIONS = "Tests/Fixtures/showcase"
PLANNER = "-c plan_cache_mode=force_generic_plan -c jit=off"
TARGETS = {"Q01": 0.8, "Q02": 1.0, "Q04": 1.0, "Q06": 1.0, "Q12": 1.0, "Q14": 1.0}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Server:
    def __init__(self, program, data, port):
        self.url = f"http://127.0.0.1:{port}/graphql"
        self.process = subprocess.Popen(
            [program, "serve", "--data", data, "--listen", f"127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL)
        for _ in range(600):
            if self.process.poll() is not None:
                sys.exit("bench: the server ended before it was ready")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=1).read()
                return
            except OSError:
                time.sleep(0.1)
        sys.exit("bench: the server did not become ready")

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
    here = {"center": first["locations"]["coordinates"], "radius": 25000}
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
                           "sendsTo": first["locations"]["id"], "search": "postcard"},
                "after": None},
        "Q12": {"gmapsId": first["locations"]["gmapsId"], "after": None},
        "Q13": {"here": here, "placeTypes": ["NATURE", "MUSEUM"], "minReviews": 1},
        "Q16": {"from": instant(-2), "to": instant(5)},
        "Q18": {"training": "PERSONAL", "from": instant(0), "to": instant(1)},
        "Q19": {"since": changes},
        "Q20": {"here": here},
    }


def cluster(data):
    """How to reach the embedded cluster: libpq keywords."""
    for place in (data, *glob.glob("/var/lib/sociograph/*")):
        pid_file = os.path.join(place, "postgres", "postmaster.pid")
        if os.path.exists(pid_file):
            lines = open(pid_file).read().splitlines()
            return f"host={lines[4]} port={lines[3]} user=sociograph dbname=sociograph"
    sys.exit("bench: the embedded cluster was not found")


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


def run_wrk(server, clients, seconds, lua, environment):
    before = server.cpu_seconds()
    output = subprocess.run(
        ["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--latency", "-s", lua, server.url],
        capture_output=True, text=True, env={**os.environ, **environment}, check=True).stdout
    after = server.cpu_seconds()
    if "Non-2xx" in output:
        sys.exit(f"bench: errors in the answers\n{output}")
    requests = int(re.search(r"(\d+) requests in", output).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))
    user, system = (1e6 * (b - a) / max(requests, 1) for a, b in zip(before, after))
    return rate, user, system


def run_pgbench(connection, clients, seconds, script, defines):
    output = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", f"-c{clients}", "-j1", f"-T{seconds}", "-f", script,
         *defines, connection],
        capture_output=True, text=True, env={**os.environ, "PGOPTIONS": PLANNER})
    found = re.search(r"tps = ([\d.]+) \(without", output.stdout)
    if not found:
        sys.exit(f"bench: pgbench failed\n{output.stdout}{output.stderr}")
    return float(found.group(1))


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

    if not os.path.exists(options.data):
        say(f"loading a graph of scale {options.scale}")
        subprocess.run(
            [options.program, "seed", "--scale", str(options.scale), "--data", options.data],
            check=True, stdout=subprocess.DEVNULL)
    server = Server(options.program, options.data, options.port)
    try:
        measure(options, server)
    finally:
        server.stop()


def measure(options, server):
    token = "demo-marisol"
    given = variables(server, token)
    connection = cluster(options.data)
    wanted = [name for name in options.operations.split(",") if name]
    print(f"{'operation':<24}{'requests/s':>12}{'pgbench/s':>12}{'ratio':>8}{'target':>8}"
          f"{'user µs':>9}{'kernel µs':>11}")
    with tempfile.TemporaryDirectory() as work:
        lua = os.path.join(work, "post.lua")
        with open(lua, "w") as file:
            file.write("""local file = io.open(os.getenv("BODY"))
wrk.method = "POST"; wrk.body = file:read("*a"); file:close()
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("TOKEN")
""")
        for folder in sorted(glob.glob(f"{OPERATIONS}/Q*")):
            name = os.path.basename(folder)
            if wanted and name.split("_")[0] not in wanted:
                continue
            measure_one(options, server, connection, token, given, folder, name, work, lua)
    memory = server.resident_megabytes()
    print(f"resident memory: {memory['VmRSS']:.0f} MB, at most {memory['VmHWM']:.0f} MB")


def measure_one(options, server, connection, token, given, folder, name, work, lua):
    document = os.path.join(folder, "operation.graphql")
    values = given.get(name.split("_")[0])
    if values is None:
        values = json.load(open(os.path.join(folder, "variables.json")))
    variables_file = os.path.join(work, "variables.json")
    json.dump(values, open(variables_file, "w"))
    plan = json.loads(subprocess.run(
        [options.program, "explain", document, "--variables", variables_file, "--viewer", "marisol",
         "--database", connection, "--format", "json"],
        capture_output=True, text=True, check=True).stdout)
    body = os.path.join(work, "body.json")
    json.dump({"query": open(document).read(), "variables": values}, open(body, "w"))
    script = os.path.join(work, "statement.sql")
    defines = pgbench_script(plan, script)
    environment = {"BODY": body, "TOKEN": token}
    run_wrk(server, options.clients, 1, lua, environment)
    rates, transactions, ratios, user, system = [], [], [], [], []
    for _ in range(options.rounds):
        rate, u, s = run_wrk(server, options.clients, options.seconds, lua, environment)
        tps = run_pgbench(connection, options.clients, options.seconds, script, defines)
        rates.append(rate)
        transactions.append(tps)
        ratios.append(rate / tps)
        user.append(u)
        system.append(s)
    median = statistics.median
    target = TARGETS.get(name.split("_")[0])
    print(f"{name:<24}{median(rates):>12.0f}{median(transactions):>12.0f}{median(ratios):>8.2f}"
          f"{target if target else '':>8}{median(user):>9.1f}{median(system):>11.1f}", flush=True)


if __name__ == "__main__":
    main()
