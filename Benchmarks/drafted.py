"""Requests per second over a drafted schema, next to pgbench with the same statements.

Loads the dumps of Pagila into a PostgreSQL of its own, drafts a schema with mutations, and sends four operations by
`sociograph load`, faster than the server answers: a row by its key, a page with three relations, a count with a filter,
and an insert. Beside each, pgbench -M prepared runs the statement that `sociograph explain` prints, and for the insert
the INSERT. The two alternate; ratios are medians over the rounds.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

from graph import Server, pgbench_script, say
from outage import Cluster
from saturation import Load

OPERATIONS = {
    "Point": ("query Point($id: Int!) { film(filmId: $id) { title length rating releaseYear } }", {"id": 77}),
    "Page": ("""query Page { films(first: 20) { nodes { title language { name }
        actors(first: 3) { nodes { firstName lastName } } inventories(first: 2) { nodes { inventoryId } } } } }""", {}),
    "Count": ("""query Count($name: String!) { films(filter: {length: {gt: 100}, actors: {some: {lastName: {eq: $name}}}}) {
        totalCount } }""", {"name": "DAVIS"}),
    "Insert": ("""mutation Insert($name: String!) { insertActors(input: {firstName: $name, lastName: $name}) {
        count userErrors { code } } }""", {"name": "A"}),
}
INSERT = "INSERT INTO actor AS target (first_name, last_name) VALUES (:p1, :p1) RETURNING target.actor_id;\n"


def pgbench(url, clients, seconds, script, defines):
    output = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", f"-c{clients}", "-j1", f"-T{seconds}", "-f", script, *defines, url],
        capture_output=True, text=True,
        env={**os.environ, "PGOPTIONS": "-c plan_cache_mode=force_generic_plan -c jit=off"})
    found = re.search(r"tps = ([\d.]+) \(without", output.stdout)
    if not found:
        sys.exit(f"bench: pgbench failed\n{output.stdout}{output.stderr}")
    return float(found.group(1))


def measure(options, url, schema, server, work):
    print(f"{'operation':<12}{'requests/s':>12}{'pgbench/s':>12}{'ratio':>8}")
    for name, (document, values) in OPERATIONS.items():
        script = f"{work}/{name}.sql"
        if name == "Insert":
            defines = ["-Dp1=A"]
            with open(script, "w") as file:
                file.write(INSERT)
        else:
            for ending, text in (("graphql", document), ("json", json.dumps(values))):
                with open(f"{work}/{name}.{ending}", "w") as file:
                    file.write(text)
            plan = json.loads(subprocess.run(
                [options.program, "explain", f"{work}/{name}.graphql", "--variables", f"{work}/{name}.json", "--schema",
                 schema, "--database", url, "--format", "json"], capture_output=True, text=True, check=True).stdout)
            defines = pgbench_script(plan, script)
        load = Load(options.program, f"{work}/mix-{name}", document, values)
        load.run(server.url, options.clients, 1)
        rates, transactions = [], []
        for _ in range(options.rounds):
            rates.append(load.run(server.url, options.clients, options.seconds)[0])
            transactions.append(pgbench(url, options.clients, options.seconds, script, defines))
        ratio = statistics.median(a / b for a, b in zip(rates, transactions))
        print(f"{name:<12}{statistics.median(rates):>12.0f}{statistics.median(transactions):>12.0f}{ratio:>8.2f}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(prog="script/bench --drafted", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--sql", action="append", required=True, metavar="FILE",
                        help="a dump of Pagila; its schema first, then its data")
    parser.add_argument("--seconds", type=int, default=5, help="of each run (default 5)")
    parser.add_argument("--rounds", type=int, default=3, help="of both, alternating (default 3)")
    parser.add_argument("--clients", type=int, default=32, help="of both (default 32)")
    parser.add_argument("--port", type=int, default=18082)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/tmp") as work:
        folder = f"{work}/postgres"
        os.makedirs(folder)
        os.chmod(work, 0o755)
        os.chmod(folder, 0o755)
        cluster = Cluster(folder)
        try:
            say("loading the dumps")
            for file in options.sql:
                # They name roles that are not here.
                subprocess.run(["psql", "-q", "-f", file, cluster.url], capture_output=True, check=True)
            subprocess.run(["psql", "-q", "-c", "VACUUM ANALYZE", cluster.url], check=True)
            schema = f"{work}/graph"
            subprocess.run(
                [options.program, "draft", schema, "--mutations", "--anonymous-writes", "--database", cluster.url], check=True)
            server = Server(
                options.program,
                ["--schema", schema, "--database", cluster.url, "--rate-limit", "off", "--rate-limit-address", "off"],
                options.port)
            try:
                measure(options, cluster.url, schema, server, work)
            finally:
                server.stop()
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
