"""Requests per second of one build of `sociograph` over those of another.

Each has a cluster of its own, loaded by itself at the same scale, and is asked the same showcase reads
by `sociograph load`, faster than they answer. The two alternate, first one then the other going ahead, so that a noisy
machine disturbs both alike; ratios are medians over the rounds. "CPU" is the time of server and
PostgreSQL for one request, which says more than rates where others use the machine too.

With the same program on both sides and --options it shows what an option costs; with --reactions, what
reads cost after as many mutations that react, half of them to the posts with most, and the time that
autovacuum takes to look.
"""

import argparse
import contextlib
import os
import shlex
import statistics
import subprocess
import tempfile
import threading
import time

import graph

OPERATIONS = ["Q01", "Q02", "Q04", "Q06", "Q12", "Q14"]
TOKEN = "demo-marisol"
# PostgreSQL looks once a minute whether there is something to vacuum.
AUTOVACUUM = 75


def main():
    parser = argparse.ArgumentParser(
        prog="script/bench --against", description=__doc__.splitlines()[0])
    parser.add_argument("against", metavar="PROGRAM", help="the other build, the divisor")
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--options", default="", help="of this build's serve, in one argument")
    parser.add_argument("--against-options", default="",
                        help="of the other's serve, such as '--schema DIR --sql DIR' of its checkout")
    parser.add_argument("--data", default=".sociograph-bench",
                        help="data directory of this build; the other's has -against at its end")
    parser.add_argument("--scale", type=int, default=20, help="scale of the graph (default 20)")
    parser.add_argument("--seconds", type=int, default=4, help="of each run (default 4)")
    parser.add_argument("--rounds", type=int, default=5, help="of both, alternating (default 5)")
    parser.add_argument("--clients", type=int, default=32, help="of both (default 32)")
    parser.add_argument("--port", type=int, default=18080, help="of this build; the next is the other's")
    parser.add_argument("--operations", default=",".join(OPERATIONS),
                        help="such as Q01,Q14 (default: those with a target)")
    parser.add_argument("--reactions", type=int, default=0, metavar="N",
                        help="sent to this build's graph first, then a while for autovacuum (default 0)")
    options = parser.parse_args()
    sides = [(options.program, options.data, shlex.split(options.options)),
             (options.against, options.data + "-against", shlex.split(options.against_options))]
    for program, data, given in sides:
        if not os.path.exists(data):
            graph.say(f"loading a graph of scale {options.scale} with {program}")
            sql = [given[at + 1] for at, word in enumerate(given[:-1]) if word == "--sql"]
            subprocess.run([program, "seed", "--scale", str(options.scale), "--data", data,
                            *(["--sql", sql[-1]] if sql else [])],
                           check=True, stdout=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        servers = []
        for number, (program, data, given) in enumerate(sides):
            server = graph.Server(program, ["--data", data, *given], options.port + number)
            stack.callback(server.stop)
            servers.append((server, data))
        if options.reactions:
            graph.say(f"sending {options.reactions} reactions")
            react(*servers[0], options.reactions)
            time.sleep(AUTOVACUUM)
        compare(options, servers)


def react(server, data, count):
    """Reactions by people who have a session, half of them to the hundred posts with most."""
    def rows(text):
        return subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", graph.cluster(data), "-c", text],
            capture_output=True, text=True, check=True,
            env={**os.environ, "PGOPTIONS": graph.PLANNER}).stdout.split()

    people = rows("""SELECT username FROM session s JOIN app_user u ON u.id = s.user_id
        WHERE s.token_hash = sha256(convert_to('demo-' || username, 'UTF8')) ORDER BY u.id""")
    posts = rows("""(SELECT wire_id(id) FROM post WHERE visibility = 'PUBLIC' ORDER BY score DESC, id LIMIT 100)
        UNION ALL (SELECT wire_id(id) FROM post WHERE visibility = 'PUBLIC' ORDER BY hashint8(id) LIMIT 5000)""")
    document = "mutation ($id: ID!) { react(subjectId: $id, kind: LIKE) { userErrors { code } } }"
    given, wrong = [0] * 8, []

    def work(number):
        try:
            for turn in range(number, count, len(given)):
                place = turn // 2 % 100 if turn % 2 == 0 else 100 + turn // 2 % (len(posts) - 100)
                server.execute(document, {"id": posts[place]}, "demo-" + people[turn * 7 % len(people)])
                given[number] += 1
        except (OSError, SystemExit) as error:
            wrong.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(len(given))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if wrong:
        raise wrong[0]
    graph.say(f"{sum(given)} reactions by {len(people)} people")


def compare(options, servers):
    given = [graph.variables(server, TOKEN) for server, _ in servers]
    print(f"{'operation':<24}{'requests/s':>12}{'other':>10}{'ratio':>8}{'lowest':>8}{'highest':>8}"
          f"{'CPU µs':>9}{'other':>9}{'ratio':>8}{'user µs':>9}{'other':>8}")
    with tempfile.TemporaryDirectory() as work:
        for folder, name in graph.showcase(options.operations):
            compare_one(options, servers, given, folder, name, work)


def compare_one(options, servers, given, folder, name, work):
    loads = [
        graph.load_of(options.program, folder, name, values, TOKEN, os.path.join(work, str(number)))
        for number, values in enumerate(given)]

    def run(number, seconds):
        server, data = servers[number]
        return graph.run_load(server, data, options.clients, seconds, loads[number])

    for number in (0, 1):
        run(number, 1)
    runs = []
    for turn in range(options.rounds):
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        pair = {number: run(number, options.seconds) for number in order}
        runs.append((pair[0], pair[1]))
    median = statistics.median
    ratios = [ours[0] / theirs[0] for ours, theirs in runs]
    costs = [ours[3] / theirs[3] for ours, theirs in runs]
    print(f"{name:<24}{median(o[0] for o, _ in runs):>12.0f}{median(t[0] for _, t in runs):>10.0f}"
          f"{median(ratios):>8.3f}{min(ratios):>8.3f}{max(ratios):>8.3f}"
          f"{median(o[3] for o, _ in runs):>9.1f}{median(t[3] for _, t in runs):>9.1f}"
          f"{median(costs):>8.3f}"
          f"{median(o[1] for o, _ in runs):>9.1f}{median(t[1] for _, t in runs):>8.1f}",
          flush=True)


if __name__ == "__main__":
    main()
