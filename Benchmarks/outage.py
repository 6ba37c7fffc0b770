"""How `sociograph serve` bears an outage of its database.

Keep-alive clients ask for a profile all the time, each a hundred times a second or so, while the
script's own PostgreSQL is stopped and started again a few times. Printed for each outage: how many
requests were refused with 503 and the longest that took; what else was not answered with 200; and how
long after PostgreSQL said that it was ready the first client had an answer, and the last.
"""

import argparse
import glob
import http.client
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from graph import OPERATIONS, Server, say

BODY = {
    "query": open(f"{OPERATIONS}/Q01_ProfileHeader/operation.graphql").read(),
    "variables": {"username": "marisol"},
}


class Cluster:
    """A PostgreSQL that is not root's, on a Unix socket only."""

    def __init__(self, folder):
        self.folder = folder
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            shutil.chown(folder, self.user, self.user)
        self.run("initdb", "-A", "trust", "-U", "sociograph", "-N", f"{folder}/data")
        self.start()
        self.run("createdb", "-h", folder, "-U", "sociograph", "sociograph")
        self.url = f"postgresql://sociograph@/sociograph?host={folder}"

    def run(self, name, *arguments):
        subprocess.run(
            [f"{self.programs}/{name}", *arguments], check=True, stdout=subprocess.DEVNULL,
            cwd="/", user=self.user if os.getuid() == 0 else None,
            group=self.user if os.getuid() == 0 else None,
            extra_groups=[] if os.getuid() == 0 else None)

    def start(self):
        """Returns when it became ready: the word is the last line of its file."""
        self.run(
            "pg_ctl", "start", "-W", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log",
            "-o", f"-c listen_addresses='' -c unix_socket_directories={self.folder}")
        for _ in range(60_000):
            try:
                if open(f"{self.folder}/data/postmaster.pid").read().split()[-1:] == ["ready"]:
                    return time.monotonic()
            except OSError:
                pass
            time.sleep(0.0005)
        sys.exit("bench: PostgreSQL did not become ready")

    def stop(self):
        self.run("pg_ctl", "stop", "-w", "-m", "immediate", "-D", f"{self.folder}/data")


class Clients:
    """Threads that ask on a connection of their own each, and note when and how they were answered."""

    def __init__(self, port, count):
        self.port = port
        self.is_over = False
        self.answers = [[] for _ in range(count)]
        self.threads = [threading.Thread(target=self.ask, args=(notes,)) for notes in self.answers]
        for thread in self.threads:
            thread.start()

    def ask(self, notes):
        body = json.dumps(BODY).encode()
        headers = {"Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self.is_over:
            begin = time.monotonic()
            try:
                connection.request("POST", "/graphql", body, headers)
                answer = connection.getresponse()
                answer.read()
                status = answer.status
            except (OSError, http.client.HTTPException):
                connection.close()
                status = 0
            notes.append((begin, time.monotonic(), status))
            time.sleep(0.01)

    def stop(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()


def report(answers, stopped, ready, until):
    """One outage: from being stopped to some time after being ready again."""
    during = [(end - begin, status) for notes in answers for begin, end, status in notes
              if end >= stopped and begin < until]
    refused = sorted(time for time, status in during if status == 503)
    other = sum(status not in (200, 503) for _, status in during)
    # Each client's first answer that came after the return.
    firsts = [min((end - ready for _, end, status in notes if status == 200 and end >= ready),
                  default=float("inf")) for notes in answers]
    print(f"{ready - stopped:>8.1f}{len(refused):>10}"
          f"{1000 * refused[len(refused) // 2] if refused else 0:>12.1f}"
          f"{1000 * refused[-1] if refused else 0:>12.1f}{other:>8}"
          f"{1000 * min(firsts):>15.0f}{1000 * max(firsts):>14.0f}", flush=True)
    return refused[-1] if refused else 0, min(firsts)


def main():
    parser = argparse.ArgumentParser(
        prog="script/bench --outage", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--outages", type=int, default=5, help="how often (default 5)")
    parser.add_argument("--seconds", type=float, default=3, help="of each (default 3)")
    parser.add_argument("--clients", type=int, default=16, help="(default 16)")
    parser.add_argument("--port", type=int, default=18080)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sociograph-outage-") as folder:
        os.chmod(folder, 0o755)
        cluster = Cluster(folder)
        try:
            measure(options, cluster)
        finally:
            if os.path.exists(f"{folder}/data/postmaster.pid"):
                cluster.stop()


def measure(options, cluster):
    say("loading a graph of scale 1")
    for command in ("migrate", "seed"):
        subprocess.run(
            [options.program, command, "--database", cluster.url], check=True,
            stdout=subprocess.DEVNULL)
    server = Server(options.program, ["--database", cluster.url], options.port)
    try:
        clients = Clients(options.port, options.clients)
        time.sleep(1)
        outages = []
        for _ in range(options.outages):
            stopped = time.monotonic()
            cluster.stop()
            time.sleep(options.seconds)
            ready = cluster.start()
            time.sleep(2)
            outages.append((stopped, ready, time.monotonic()))
        clients.stop()
        print(f"{'outage s':>8}{'refused':>10}{'median ms':>12}{'longest ms':>12}{'other':>8}"
              f"{'first 200 ms':>15}{'last ms':>14}")
        found = [report(clients.answers, *outage) for outage in outages]
        print(f"longest refusal {1000 * max(f[0] for f in found):.1f} ms (wanted: 50), "
              f"first answer at the latest {1000 * max(f[1] for f in found):.0f} ms "
              "after PostgreSQL's return (wanted: 1,000)")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
