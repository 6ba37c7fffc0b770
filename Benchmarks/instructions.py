"""User instructions and system calls of `sociograph serve` for one request.

Instructions are counted by callgrind on a server with one loop, asked by one client over a connection
that it keeps; they are the same on every machine, whatever else it does. System calls are counted by
strace while 16 clients ask. Both leave out what a request costs the first time: the server is warm.

A read is the same request each time. The mutation M3 of `--writes` is about another place each time.
"""

import argparse
import contextlib
import glob
import http.client
import itertools
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import graph
import writes

# User instructions of a request that are wanted, in thousands.
WANTED = {"Q01": 45, "Q02": None, "Q04": 70, "Q11": 190, "Q12": 165, "Q14": 340, "M3": 90}
WANTED_CALLS = 6
TOKEN = "demo-marisol"
# What mutations are about.
THINGS = {
    "place": "SELECT id FROM location WHERE level = 'PLACE' ORDER BY id",
    "friend": "SELECT id FROM app_user WHERE username <> 'marisol' ORDER BY id LIMIT 1000",
}


def main():
    parser = argparse.ArgumentParser(
        prog="script/bench --instructions", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help="the build that is counted")
    parser.add_argument("--options", default="", help="more options of serve, in one argument")
    parser.add_argument("--data", default=".sociograph-bench-small", help="data directory of the cluster")
    parser.add_argument("--requests", type=int, default=400, help="counted for each operation (default 400)")
    parser.add_argument("--operations", default=",".join(WANTED), help="such as Q01,Q14")
    parser.add_argument("--port", type=int, default=18090)
    parser.add_argument("--profile", metavar="DIR", help="keep callgrind's files here, one an operation")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 when an operation takes 10 %% more than in Benchmarks/instructions.json")
    parser.add_argument("--update", action="store_true", help="write Benchmarks/instructions.json")
    options = parser.parse_args()
    given = shlex.split(options.options)
    if not os.path.exists(options.data):
        graph.say("loading a graph of scale 1")
        subprocess.run(
            [options.program, "seed", "--scale", "1", "--data", options.data, *folder_of_sql(given)],
            check=True, stdout=subprocess.DEVNULL)
    with contextlib.ExitStack() as stack:
        host = graph.Server(options.program, ["--data", options.data, *given], options.port)
        stack.callback(host.stop)
        work = stack.enter_context(tempfile.TemporaryDirectory())
        connection = graph.cluster(options.data)
        requests = prepare(options, host, connection)
        calls = {name: system_calls(host, bodies) for name, bodies in requests}
        instructions = count_instructions(options, given, connection, requests, work)
    report(options, instructions, calls)


def folder_of_sql(given):
    """`--sql DIR` among the options of serve, which `seed` takes too."""
    place = given.index("--sql") if "--sql" in given else len(given)
    return given[place:place + 2]


def prepare(options, server, connection):
    """The operations by their names, each with the bodies that are sent in turns."""
    values = graph.variables(server, TOKEN)
    requests = []
    for folder, name in graph.showcase(options.operations):
        requests.append((name, [json.dumps(graph.request(folder, name, values)).encode()]))
    wanted = options.operations.split(",")
    for name, (field, document, kind) in writes.MUTATIONS.items():
        if name not in wanted:
            continue
        if kind not in THINGS:
            sys.exit("bench: of mutations M3 and M4 can be counted")
        things = writes.sql(connection, THINGS[kind]).split()
        requests.append((f"{name}_{field}", [
            json.dumps({"query": document, "variables": {"id": writes.wire(int(thing))}}).encode()
            for thing in things]))
    return requests


def ask(port, bodies, times):
    """Sends one request after the other over one connection."""
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    for body in itertools.islice(itertools.cycle(bodies), times):
        client.request("POST", "/graphql", body, headers)
        answer = client.getresponse()
        text = answer.read()
        if answer.status != 200 or b'"errors"' in text[:200]:
            sys.exit(f"bench: {answer.status} {text[:400]}")
    client.close()


def system_calls(server, bodies, clients=16, each=250):
    """System calls of the server for one request while 16 clients ask."""
    port = int(server.url.split(":")[2].split("/")[0])
    ask(port, bodies, 50)
    with tempfile.NamedTemporaryFile("r") as output:
        strace = subprocess.Popen(
            ["strace", "-c", "-f", "-q", "-o", output.name, "-p", str(server.process.pid)],
            stderr=subprocess.DEVNULL)
        time.sleep(1)
        threads = [threading.Thread(target=ask, args=(port, bodies, each)) for _ in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        strace.send_signal(2)
        strace.wait()
        summary = [line.split() for line in output.read().splitlines() if line.endswith("total")]
    # Share, seconds, microseconds a call, calls, errors if any, "total".
    return int(summary[0][3]) / (clients * each) if summary else float("nan")


def count_instructions(options, given, connection, requests, work):
    port = options.port + 1
    place = options.profile or work
    os.makedirs(place, exist_ok=True)
    output = os.path.join(os.path.abspath(place), "callgrind.out")
    # Without what valgrind cannot read of newer debugging information.
    program = os.path.join(work, "sociograph")
    subprocess.run(["strip", "--strip-debug", "-o", program, options.program], check=True)
    process = subprocess.Popen(
        ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={output}",
         program, "serve", "--database", connection, "--loops", "1",
         "--listen", f"127.0.0.1:{port}", *given],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    threading.Thread(target=lambda: [None for _ in process.stderr], daemon=True).start()
    counts = {}
    try:
        wait_until_ready(port, process)
        for name, bodies in requests:
            graph.say(f"counting {name}")
            ask(port, bodies, 260)
            control(process, "-i", "on")
            ask(port, bodies, 20)
            control(process, "-z")
            ask(port, bodies, options.requests)
            control(process, "-d", name)
            control(process, "-i", "off")
            newest = max(glob.glob(output + ".*"), key=os.path.getmtime)
            counts[name] = total(newest) / options.requests
            if options.profile:
                shutil.move(newest, os.path.join(place, f"{name}.callgrind"))
    finally:
        process.terminate()
        process.wait(60)
    return counts


def wait_until_ready(port, process):
    for _ in range(3000):
        if process.poll() is not None:
            sys.exit("bench: the server under callgrind ended before it was ready")
        try:
            client = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            client.request("GET", "/ready")
            if client.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit("bench: the server under callgrind did not become ready")


def control(process, *arguments):
    subprocess.run(["callgrind_control", *arguments, str(process.pid)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def total(path):
    """The number of instructions in a file of callgrind's."""
    for line in open(path):
        if line.startswith(("summary:", "totals:")):
            return int(line.split()[1])
    sys.exit(f"bench: {path} has no total")


def report(options, instructions, calls):
    kept = "Benchmarks/instructions.json"
    allowed = json.load(open(kept)) if os.path.exists(kept) else {}
    print(f"{'operation':<24}{'instructions':>14}{'wanted':>10}{'kept':>10}{'ratio':>8}{'calls':>8}")
    over = []
    for name, count in instructions.items():
        short = name.split("_")[0]
        wanted = WANTED.get(short)
        before = allowed.get(short)
        if before and count > before * 1.1:
            over.append(short)
        print(f"{name:<24}{count:>14,.0f}{f'{wanted} k' if wanted else '':>10}"
              f"{f'{before / 1000:.1f} k' if before else '':>10}"
              f"{f'{count / before:.3f}' if before else '':>8}"
              f"{calls[name]:>8.2f}")
    if options.update:
        allowed.update({name.split("_")[0]: round(count) for name, count in instructions.items()})
        with open(kept, "w") as file:
            json.dump(allowed, file, indent=2)
            file.write("\n")
    if options.check and over:
        sys.exit(f"bench: over its figure by more than 10 %: {', '.join(over)}")


if __name__ == "__main__":
    main()
