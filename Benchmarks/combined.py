"""Which share of the executions of a short statement are combined, at rest and when every core is busy.

The same clients ask the same operation in rounds: first with the machine as it is, then beside as many
processes that spin as there are cores. What several executions have in common is worth most under load:
the share there is not to fall below that without it (a twentieth less is taken for noise).
"""

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import urllib.request

import graph

TOKEN = "demo-marisol"


def main():
    parser = argparse.ArgumentParser(prog="script/bench --combined", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--data", default=".sociograph-bench-small", help="data directory of the cluster")
    parser.add_argument("--operations", default="Q01,Q02", help="such as Q02 (default: Q01,Q02)")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=int, default=4, help="of each run (default 4)")
    parser.add_argument("--rounds", type=int, default=3, help="of both, alternating (default 3)")
    parser.add_argument("--spinning", type=int, default=os.cpu_count(), help="processes (default: the cores)")
    parser.add_argument("--port", type=int, default=18290)
    options = parser.parse_args()
    if not os.path.exists(options.data):
        graph.say("loading a graph of scale 1")
        subprocess.run([options.program, "seed", "--scale", "1", "--data", options.data],
                       check=True, stdout=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        server = graph.Server(
            options.program,
            ["--data", options.data, "--admin-listen", f"127.0.0.1:{options.port + 1}"], options.port)
        stack.callback(server.stop)
        work = stack.enter_context(tempfile.TemporaryDirectory())
        fallen = measure(options, server, work)
    if fallen:
        sys.exit(f"bench: fewer are combined under load: {', '.join(fallen)}")


def measure(options, server, work):
    values = graph.variables(server, TOKEN)
    print(f"{'operation':<24}{'at rest':>10}{'under load':>12}{'requests/s':>12}{'under load':>12}")
    fallen = []
    for folder, name in graph.showcase(options.operations):
        sent = graph.load_of(options.program, folder, name, values, TOKEN, work)
        share(options, server, sent)
        rest, load = [], []
        for _ in range(options.rounds):
            rest.append(share(options, server, sent))
            with spinning(options.spinning):
                load.append(share(options, server, sent))
        (rest, rate), (load, loaded) = (
            [statistics.median(column) for column in zip(*rounds)] for rounds in (rest, load))
        print(f"{name:<24}{rest:>10.2f}{load:>12.2f}{rate:>12,.0f}{loaded:>12,.0f}", flush=True)
        if load < rest - 0.05:
            fallen.append(name)
    return fallen


def share(options, server, sent):
    """The share of the operations whose executions ran together with others, and their rate."""
    before = counts(options.port + 1)
    rate = graph.run_load(server, options.data, options.clients, options.seconds, sent)[0]
    after = counts(options.port + 1)
    operations, combined = (now - then for now, then in zip(after, before))
    return combined / max(operations, 1), rate


def counts(port):
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    return tuple(
        sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))
        for name in ("sociograph_operations_total", "sociograph_batched_executions_total"))


@contextlib.contextmanager
def spinning(count):
    """Beside processes that do nothing and rest never."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
