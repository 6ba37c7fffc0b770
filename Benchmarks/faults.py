"""How `sociograph serve` bears faults: of its database, of the road to it, of its clients, of its log.

For each fault it runs a server of its own before a PostgreSQL of its own, with clients that read and write
all the time, does the fault, and holds every answer against what is allowed. The ledger has each request:
when it was sent, when and how it was answered. Afterwards each mutation of the ledger is looked for in the
database: one that was answered with data was done once, one that was refused was not done.
"""

import argparse
import collections
import contextlib
import http.client
import itertools
import json
import os
import random
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import graph
import outage
from saturation import Load

READ = {
    "query": open(f"{graph.OPERATIONS}/Q01_ProfileHeader/operation.graphql").read(),
    "variables": {"username": "marisol"},
}
# Reads no posts.
OTHER = {"query": "{ places: locations(first: 1) { nodes { id name } } }"}
WRITE = """mutation Note($title: String!) {
  createEvent(input: {title: $title, startsAt: "2041-05-05T18:00:00Z", visibility: INVITED}) {
    event { id } userErrors { code } } }"""
TOKEN = "demo-marisol"
UNAVAILABLE = {(503, "DATABASE_UNAVAILABLE"), (503, "SERVICE_OVERLOADED")}
GIVEN_UP = UNAVAILABLE | {(504, "TIMEOUT"), (503, "OUTCOME_UNKNOWN")}
Entry = collections.namedtuple("Entry", "kind begin end status code title")


def say(text):
    print(f"faults: {text}", file=sys.stderr, flush=True)


# MARK: PostgreSQL


class Cluster(outage.Cluster):
    """As that of the outages, and it can be frozen and followed."""

    @classmethod
    def following(cls, primary, folder):
        """A standby of another one."""
        standby = cls.__new__(cls)
        standby.folder, standby.programs, standby.user = folder, primary.programs, primary.user
        if os.getuid() == 0:
            shutil.chown(folder, primary.user, primary.user)
        standby.run("pg_basebackup", "-R", "-X", "stream", "-c", "fast", "-h", primary.folder,
                    "-U", "sociograph", "-D", f"{folder}/data")
        standby.start()
        return standby

    def postmaster(self):
        return int(open(f"{self.folder}/data/postmaster.pid").readline())

    def processes(self):
        parent = self.postmaster()
        found = [parent]
        for name in os.listdir("/proc"):
            try:
                if name.isdigit() and int(open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()[1]) == parent:
                    found.append(int(name))
            except (OSError, IndexError):
                pass
        return found

    def signal(self, number):
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def sql(self, text, check=True):
        return subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "sociograph",
             "-d", "sociograph", "-c", text], capture_output=True, text=True, check=check,
            env={**os.environ, "PGOPTIONS": "-c search_path=graph"}).stdout.strip()

    def restart(self):
        self.run("pg_ctl", "restart", "-w", "-m", "fast", "-D", f"{self.folder}/data", "-l", f"{self.folder}/log")

    def promote(self):
        self.run("pg_ctl", "promote", "-w", "-D", f"{self.folder}/data")

    def is_up(self):
        return os.path.exists(f"{self.folder}/data/postmaster.pid")


class Road:
    """Between the server and PostgreSQL: bytes take a while each way; it can be cut, or lead nowhere."""

    def __init__(self, target, delay=0.0):
        self.target, self.delay = target, delay
        self.is_black = False
        self.pairs = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.wake, self.waker = os.pipe()
        self.is_over = False
        threading.Thread(target=self.run, daemon=True).start()

    def cut(self):
        self.is_cut = True
        os.write(self.waker, b"x")

    is_cut = False

    def close(self):
        self.is_over = True
        os.write(self.waker, b"x")

    def run(self):
        poll = select.epoll()
        poll.register(self.listener, select.EPOLLIN)
        poll.register(self.wake, select.EPOLLIN)
        ends, due = {}, collections.deque()

        def drop(one):
            for end in (one, ends.get(one)):
                if end in ends:
                    poll.unregister(end)
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    ends.pop(end)
                    end.close()

        while not self.is_over:
            if self.is_black and not self.is_cut:
                # What is sent meanwhile waits, as with a peer that sends it again and again.
                time.sleep(0.01)
                continue
            wait = max(0, due[0][0] - time.monotonic()) if due else 0.05
            files = {end.fileno(): end for end in ends}
            # epoll itself waits for whole milliseconds, rounded up.
            select.select([poll.fileno()], [], [], min(wait, 0.05))
            for number, _ in poll.poll(0):
                if number == self.listener.fileno():
                    client, _ = self.listener.accept()
                    server = socket.socket(socket.AF_UNIX)
                    server.connect(self.target)
                    for one, other in ((client, server), (server, client)):
                        if one.family == socket.AF_INET:
                            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                        ends[one] = other
                        poll.register(one, select.EPOLLIN)
                elif number == self.wake:
                    os.read(self.wake, 100)
                elif number in files and files[number] in ends:
                    source = files[number]
                    try:
                        data = source.recv(1 << 18)
                    except OSError:
                        data = b""
                    if not data:
                        drop(source)
                    else:
                        due.append((time.monotonic() + self.delay, ends[source], data))
            if self.is_cut:
                self.is_cut = False
                due.clear()
                for one in list(ends):
                    if one in ends:
                        drop(one)
            now = time.monotonic()
            while due and due[0][0] <= now:
                _, sink, data = due.popleft()
                try:
                    sink.setblocking(True)
                    if sink in ends:
                        sink.sendall(data)
                except OSError:
                    if sink in ends:
                        drop(sink)
        for one in ends:
            one.close()
        self.listener.close()


class Bouncer:
    """PgBouncer in transaction mode."""

    def __init__(self, folder, cluster):
        self.folder, self.user = folder, cluster.user
        with open(f"{folder}/pgbouncer.ini", "w") as file:
            file.write(f"""[databases]
sociograph = host={cluster.folder} user=sociograph dbname=sociograph
[pgbouncer]
pool_mode = transaction
default_pool_size = 8
listen_port = 6432
unix_socket_dir = {folder}
auth_type = any
""")
        if os.getuid() == 0:
            for path in (folder, f"{folder}/pgbouncer.ini"):
                shutil.chown(path, self.user, self.user)
        self.url = f"postgresql://sociograph@/sociograph?host={folder}&port=6432"
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", "-q", f"{self.folder}/pgbouncer.ini"], cwd="/",
            stdout=subprocess.DEVNULL, stderr=open(f"{self.folder}/log", "a"),
            user=self.user if os.getuid() == 0 else None)
        while not os.path.exists(f"{self.folder}/.s.PGSQL.6432"):
            if self.process.poll() is not None:
                sys.exit("faults: pgbouncer did not start: " + open(f"{self.folder}/log").read())
            time.sleep(0.01)

    def kill(self):
        self.process.kill()
        self.process.wait()
        for name in (".s.PGSQL.6432", ".s.PGSQL.6432.lock"):
            if os.path.exists(f"{self.folder}/{name}"):
                os.unlink(f"{self.folder}/{name}")


# MARK: Clients


class Clients:
    """Threads that read and write on connections of their own, and the ledger of what they were answered."""

    numbers = itertools.count()

    def __init__(self, port, readers=8, writers=4, others=0, pause=0.01):
        self.port, self.pause = port, pause
        self.is_over = False
        self.ledger = []
        kinds = ["read"] * readers + ["write"] * writers + ["other"] * others
        self.threads = [threading.Thread(target=self.ask, args=(kind,)) for kind in kinds]
        for thread in self.threads:
            thread.start()

    def request(self, kind):
        if kind == "read":
            return READ, None
        if kind == "other":
            return OTHER, None
        title = f"fault {os.getpid()} {next(self.numbers)}"
        return {"query": WRITE, "variables": {"title": title}}, title

    def ask(self, kind):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self.is_over:
            body, title = self.request(kind)
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}",
                       "Accept": "application/graphql-response+json"}
            if title:
                headers["Idempotency-Key"] = title.replace(" ", "-")
            begin, status, code = time.monotonic(), 0, "CLOSED"
            try:
                connection.request("POST", "/graphql", json.dumps(body), headers)
                answer = connection.getresponse()
                text, status = answer.read(), answer.status
                code = ""
                errors = json.loads(text).get("errors")
                if errors:
                    code = errors[0].get("extensions", {}).get("code", "?")
                if answer.getheader("Connection") == "close":
                    connection.close()
            except (OSError, http.client.HTTPException):
                connection.close()
            except ValueError:
                code = "NO JSON"
            self.ledger.append(Entry(kind, begin, time.monotonic(), status, code, title))
            time.sleep(self.pause)
        connection.close()

    def stop(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()
        return self.ledger

    def wait_for(self, what, patience=60):
        """Until an answer that began from now on is as wanted; how long that took."""
        begin = time.monotonic()
        while time.monotonic() < begin + patience:
            for entry in self.ledger[-50:]:
                if entry.begin >= begin and what(entry):
                    return entry.end - begin
            time.sleep(0.002)
        return float("inf")


def served(entry):
    return entry.status == 200 and not entry.code


class Findings:
    """What was wanted of one fault and what was seen."""

    def __init__(self, name, allowed):
        self.name, self.allowed = name, allowed
        self.seen, self.broken = [], []

    def see(self, text):
        self.seen.append(text)

    def want(self, holds, text):
        if not holds:
            self.broken.append(text)

    def judge(self, ledger, allowed, longest=None):
        """Whether every answer is 200 or allowed, and no one waited longer."""
        counts = collections.Counter(
            (e.status, e.code) for e in ledger)
        self.see(", ".join(f"{n} x {s or ''}{' ' if s and c else ''}{c}" for (s, c), n in counts.most_common()))
        for (status, code), number in counts.items():
            if (status, code) != (200, "") and (status, code) not in allowed:
                self.broken.append(f"{number} answers {status} {code}")
        waited = max((e.end - e.begin for e in ledger), default=0)
        self.see(f"longest {waited:.2f} s")
        if longest:
            self.want(waited <= longest, f"an answer took {waited:.2f} s, not {longest}")

    def account(self, ledger, cluster):
        """Whether each write was done as often as its answer says."""
        titles = collections.Counter(
            line for line in cluster.sql("SELECT title FROM event WHERE title LIKE 'fault %'").splitlines())
        writes = [entry for entry in ledger if entry.kind == "write"]
        lost = [e for e in writes if served(e) and titles[e.title] != 1]
        refused = [e for e in writes if (e.status, e.code) in UNAVAILABLE and titles[e.title]]
        doubled = [e for e in writes if titles[e.title] > 1]
        self.see(f"{sum(served(e) for e in writes)} writes")
        self.want(not lost, f"{len(lost)} writes were answered and are not there once")
        self.want(not refused, f"{len(refused)} writes were refused and are there")
        self.want(not doubled, f"{len(doubled)} writes were done twice")

    def print(self):
        verdict = "held" if not self.broken else "DID NOT HOLD"
        print(f"{self.name:<12} {verdict}\n  allowed: {self.allowed}\n  seen:    {'; '.join(self.seen)}")
        for text in self.broken:
            print(f"  broken:  {text}")
        sys.stdout.flush()


# MARK: The world of one fault


class World:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.clean_up = []
        self.log = open(options.log, "a") if options.log else subprocess.DEVNULL
        self.cluster = Cluster(self.sub("cluster"))
        self.clean_up.append(lambda: self.cluster.is_up() and self.cluster.stop())
        say("loading a graph of scale 1")
        for command in ("migrate", "seed"):
            subprocess.run(
                [options.program, command, "--database", self.cluster.url], check=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def sub(self, name):
        path = f"{self.folder}/{name}"
        os.mkdir(path)
        os.chmod(path, 0o755)
        return path

    @property
    def socket(self):
        return f"{self.cluster.folder}/.s.PGSQL.5432"

    def road_url(self, road):
        return f"postgresql://sociograph@127.0.0.1:{road.port}/sociograph?sslmode=disable"

    def serve(self, *arguments, database=None):
        return graph.Server(
            self.options.program,
            ["--database", database or self.cluster.url, "--rate-limit", "off", "--slow-operation", "off",
             *arguments], self.options.port, log=self.log)

    def ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.options.port, timeout=10)
        try:
            connection.request("GET", "/ready")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def until_red(self, patience=30):
        begin = time.monotonic()
        while time.monotonic() < begin + patience:
            if self.ready() == 503:
                return time.monotonic() - begin
            time.sleep(0.02)
        return float("inf")

    def close(self):
        for work in reversed(self.clean_up):
            work()


def backends(cluster):
    return cluster.sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'sociograph' "
                       "AND pid <> pg_backend_pid()").split()


# MARK: Faults of the database


def kill(world):
    found = Findings("kill", "ending one backend at a time costs nobody an answer")
    server = world.serve()
    clients = Clients(world.options.port)
    for _ in range(10):
        time.sleep(0.3)
        for process in backends(world.cluster)[:1]:
            world.cluster.sql(f"SELECT pg_terminate_backend({process})")
        clients.wait_for(served)
    ledger = clients.stop()
    found.judge(ledger, set())
    found.account(ledger, world.cluster)
    server.stop()
    return found


def outages(world, name, allowed, stop, start, first, judged, longest=None, pause=3):
    """A time without a database, and the return."""
    found = Findings(name, allowed)
    server = world.serve()
    clients = Clients(world.options.port)
    time.sleep(1)
    stop()
    time.sleep(pause)
    start()
    back = clients.wait_for(served)
    found.see(f"first answer {back:.2f} s after PostgreSQL's return")
    found.want(back <= first, f"the first answer came {back:.2f} s after PostgreSQL's return")
    time.sleep(1)
    ledger = clients.stop()
    found.judge(ledger, judged, longest)
    found.account(ledger, world.cluster)
    server.stop()
    return found


def restart(world):
    return outages(
        world, "restart", "503, and 200 within a second of its return",
        lambda: world.cluster.restart(), lambda: None, 1, GIVEN_UP)


def crash(world):
    return outages(
        world, "crash", "503, and 200 within a second of its return",
        lambda: world.cluster.stop(), lambda: world.cluster.start(), 1, GIVEN_UP)


def slain(world):
    """A backend that dies takes all others with it."""

    def slay():
        for process in backends(world.cluster)[:1]:
            os.kill(int(process), signal.SIGKILL)

    def wait():
        while not world.cluster.sql("SELECT 1", check=False):
            time.sleep(0.01)

    return outages(
        world, "slain", "503, and 200 within a second of PostgreSQL's own restart", slay, wait, 1, GIVEN_UP,
        pause=0.2)


def silence(world, name, begin, end, database=None):
    """The database says nothing any more, and nobody says so."""
    found = Findings(
        name, "503 or 504 after the statement timeout and a second; a mutation after its own; "
        "/ready red within 5 s")
    server = world.serve("--statement-timeout", "3s", "--mutation-timeout", "4s", database=database)
    clients = Clients(world.options.port)
    time.sleep(1)
    begin()
    red = world.until_red()
    found.see(f"/ready red after {red:.2f} s")
    found.want(red <= 5.2, f"/ready was red after {red:.2f} s")
    time.sleep(8)
    end()
    back = clients.wait_for(served)
    found.see(f"first answer {back:.2f} s after its return")
    found.want(back <= 5, f"the first answer came {back:.2f} s after its return")
    time.sleep(1)
    ledger = clients.stop()
    found.judge(ledger, GIVEN_UP, 5.5)
    found.account(ledger, world.cluster)
    reads = max((e.end - e.begin for e in ledger if e.kind == "read"), default=0)
    found.see(f"longest read {reads:.2f} s")
    found.want(reads <= 4.3, f"a read took {reads:.2f} s where the statement timeout is 3")
    server.stop()
    return found


def freeze(world):
    return silence(world, "freeze", lambda: world.cluster.signal(signal.SIGSTOP),
                   lambda: world.cluster.signal(signal.SIGCONT))


def blackhole(world):
    road = Road(world.socket)

    def change(is_black):
        road.is_black = is_black

    found = silence(world, "blackhole", lambda: change(True), lambda: change(False), world.road_url(road))
    road.close()
    return found


def cut(world):
    found = Findings("cut", "503 for a moment; a read whose connection is cut is tried again")
    road = Road(world.socket)
    server = world.serve(database=world.road_url(road))
    clients = Clients(world.options.port)
    for _ in range(5):
        time.sleep(0.7)
        road.cut()
        clients.wait_for(served)
    ledger = clients.stop()
    found.judge(ledger, GIVEN_UP)
    found.account(ledger, world.cluster)
    server.stop()
    road.close()
    return found


def failover(world, by="URL and target_session_attrs"):
    found = Findings(
        "hosts" if by == "host=a,b" else "failover", f"by {by}: 503 until the standby is promoted; then it is read and written to; nothing is lost")
    primary = world.cluster
    primary.sql("ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
    standby = Cluster.following(primary, world.sub("standby"))
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.sql("SELECT pg_reload_conf()")
    hosts = f"{primary.folder},{standby.folder}"
    if by == "host=a,b":
        url = f"host={hosts} user=sociograph dbname=sociograph"
    else:
        url = f"postgresql://sociograph@/sociograph?host={hosts}&target_session_attrs=read-write"
    server = world.serve(database=url)
    clients = Clients(world.options.port)
    time.sleep(1)
    primary.stop()
    time.sleep(1)
    standby.promote()
    standby.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
    standby.sql("SELECT pg_reload_conf()")
    back = clients.wait_for(served)
    written = clients.wait_for(lambda entry: served(entry) and entry.kind == "write")
    found.see(f"read after {back:.2f} s, written after {written:.2f} s")
    found.want(max(back, written) <= 5, "the new primary is not used within 5 s")
    time.sleep(1)
    ledger = clients.stop()
    found.judge(ledger, GIVEN_UP)
    found.account(ledger, standby)
    server.stop()
    standby.stop()
    primary.start()
    primary.sql("ALTER SYSTEM RESET ALL", check=False)
    primary.sql("SELECT pg_reload_conf()", check=False)
    shutil.rmtree(standby.folder)
    return found


def returned(world):
    found = Findings(
        "returned", "the former primary comes back as a second one, first in the list: it gets no write, and the log "
        "and a metric say so")
    primary = world.cluster
    primary.sql("ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
    standby = Cluster.following(primary, world.sub("successor"))
    primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.sql("SELECT pg_reload_conf()")
    words = f"{world.folder}/returned.log"
    server = world.serve(
        "--admin-listen", f"127.0.0.1:{world.options.port + 1}", "--log-file", words,
        database=f"host={primary.folder},{standby.folder} user=sociograph dbname=sociograph "
                 "target_session_attrs=read-write")
    clients = Clients(world.options.port)
    time.sleep(1)
    primary.stop()
    os.unlink(f"{primary.folder}/data/postgresql.auto.conf")
    standby.promote()
    standby.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
    standby.sql("SELECT pg_reload_conf()")
    clients.wait_for(lambda entry: served(entry) and entry.kind == "write")
    primary.start()
    count = "SELECT count(*) FROM event WHERE title LIKE 'fault %'"
    before = int(primary.sql(count))
    for _ in range(20):
        # Whoever connects now meets the first host first.
        for process in backends(standby):
            standby.sql(f"SELECT pg_terminate_backend({process})")
        clients.wait_for(lambda entry: served(entry) and entry.kind == "write")
    ledger = clients.stop()
    metrics = urllib.request.urlopen(f"http://127.0.0.1:{world.options.port + 1}/metrics").read().decode()
    refused = sum(int(line.split()[-1]) for line in metrics.splitlines()
                  if line.startswith("sociograph_pool_hosts_refused_total"))
    wrong = int(primary.sql(count)) - before
    found.see(f"{wrong} writes on the former primary; {refused} connections to it were not used")
    found.want(wrong == 0, f"{wrong} writes are on the former primary")
    found.want(refused > 0, "the metric says nothing")
    found.want("refused host" in open(words).read(), "the log says nothing")
    found.judge(ledger, GIVEN_UP)
    found.account(ledger, standby)
    server.stop()
    primary.stop()
    # The next faults have the graph as it is now.
    standby.sql("ALTER SYSTEM RESET ALL")
    standby.sql("SELECT pg_reload_conf()")
    world.cluster = standby
    return found


def hosts(world):
    return failover(world, by="host=a,b")


def pgbouncer(world):
    found = Findings("pgbouncer", "200 through it in transaction mode; 503 while it is killed and started again")
    bouncer = Bouncer(world.sub("pgbouncer"), world.cluster)
    server = world.serve(
        "--pooler", "transaction", "--direct-database", world.cluster.url, database=bouncer.url)
    clients = Clients(world.options.port)
    time.sleep(2)
    found.judge(list(clients.ledger), set())
    bouncer.kill()
    time.sleep(1)
    bouncer.start()
    back = clients.wait_for(served)
    found.see(f"first answer {back:.2f} s after its return")
    time.sleep(1)
    ledger = clients.stop()
    found.judge(ledger, GIVEN_UP)
    found.account(ledger, world.cluster)
    server.stop()
    bouncer.kill()
    return found


def locked(world):
    found = Findings("locked", "who reads another table is answered; who reads the locked one may be refused")
    server = world.serve()
    world_ready = Clients(world.options.port, readers=2, writers=0, others=2)
    time.sleep(1)
    world_ready.stop()
    holder = subprocess.Popen(
        ["psql", "-X", "-q", "-h", world.cluster.folder, "-U", "sociograph", "-d", "sociograph"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdin.write("BEGIN; LOCK graph.app_user; SELECT 1;\n")
    holder.stdin.flush()
    holder.stdout.readline()
    clients = Clients(world.options.port, readers=8, writers=0, others=8)
    time.sleep(5)
    holder.stdin.write("COMMIT;\n")
    holder.stdin.close()
    holder.wait()
    back = clients.wait_for(lambda entry: served(entry) and entry.kind == "read")
    time.sleep(1)
    ledger = clients.stop()
    others = [entry for entry in ledger if entry.kind == "other"]
    found.judge(ledger, GIVEN_UP | {(200, "LOCK_TIMEOUT")})
    found.see(f"of another table {sum(map(served, others))} of {len(others)} served, longest "
              f"{max(e.end - e.begin for e in others):.2f} s; back after {back:.2f} s")
    found.want(all(map(served, others)), "somebody who reads another table was refused")
    server.stop()
    return found


def distance(world):
    found = Findings("distance", "at 30 ms to the database: a start of few round trips, 2,000 requests/s of Q02 "
                     "from 64 clients")
    near = world.serve()
    ids = graph.variables(near, TOKEN)["Q02"]
    near.stop()
    query = open(f"{graph.OPERATIONS}/Q02_Refetch/operation.graphql").read()
    for milliseconds in (0, 30):
        road = Road(world.socket, delay=milliseconds / 2000)
        begin = time.monotonic()
        server = world.serve(database=world.road_url(road))
        started = time.monotonic() - begin
        load = Load(world.options.program, f"{world.folder}/q02", query, ids)
        for seconds in (3, world.options.seconds):
            rate, _ = load.run(server.url, 64, seconds)
        found.see(f"{milliseconds} ms: start {started:.1f} s, {rate:.0f} requests/s")
        if milliseconds:
            found.want(rate >= 2000, f"{rate:.0f} requests/s")
            found.want(started <= near_start + 40 * 0.030, f"the start took {started:.1f} s")
        near_start = started
        server.stop()
        road.close()
    return found


# MARK: Faults of clients and of the process


def drain(world):
    found = Findings("drain", "64 keep-alive clients learn of the end by Connection: close; nobody meets a closed socket")
    server = world.serve("--shutdown-delay", "2s")
    clients = Clients(world.options.port, readers=64, writers=0, pause=0.2)
    time.sleep(2)
    begin = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    for _ in range(100):
        time.sleep(0.05)
        if server.process.poll() is not None:
            break
    server.process.wait(30)
    ledger = clients.stop()
    # A connection that was opened when nobody listened any more is no fault.
    broken = [e for e in ledger if e.status == 0 and e.begin < begin + 2]
    found.see(f"{sum(map(served, ledger))} answers, {len(broken)} broken while it drained; ended after "
              f"{time.monotonic() - begin:.1f} s with {server.process.returncode}")
    found.want(not broken, f"{len(broken)} clients met a closed socket")
    found.want(server.process.returncode == 0, f"it ended with {server.process.returncode}")
    return found


def hangup(world):
    found = Findings("hangup", "SIGHUP opens the log anew; nobody notices")
    path = f"{world.folder}/hangup.log"
    server = world.serve("--log-file", path, "--access-log", "all")
    clients = Clients(world.options.port)
    for round in range(5):
        time.sleep(0.5)
        os.rename(path, f"{path}.{round}")
        server.process.send_signal(signal.SIGHUP)
        begin = time.monotonic()
        while not os.path.exists(path) and time.monotonic() < begin + 10:
            time.sleep(0.01)
        found.want(os.path.exists(path), "the log was not opened anew")
    ledger = clients.stop()
    found.judge(ledger, set())
    found.account(ledger, world.cluster)
    server.stop()
    lines = sum("access" in line for name in [path] + [f"{path}.{n}" for n in range(5)] for line in open(name))
    found.see(f"{lines} of {len(ledger)} answers are in the six logs")
    found.want(lines >= len(ledger), "answers are in no log")
    return found


def halfclose(world):
    found = Findings("halfclose", "a client that closes its sending half after its request gets its whole answer")
    server = world.serve()
    body = json.dumps(READ).encode()
    request = (b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
               + str(len(body)).encode() + b"\r\n\r\n" + body)
    opened = []
    for _ in range(100):
        one = socket.create_connection(("127.0.0.1", world.options.port))
        one.settimeout(30)
        one.sendall(request * 2)
        one.shutdown(socket.SHUT_WR)
        opened.append(one)
    answers = 0
    for one in opened:
        text = b""
        while data := one.recv(1 << 16):
            text += data
        answers += text.count(b"HTTP/1.1 200 ") if text.endswith(b"}") else 0
        one.close()
    found.see(f"{answers} of 200 answers on 100 connections")
    found.want(answers == 200, "answers are missing")
    server.stop()
    return found


def early(world):
    found = Findings("early", "started before PostgreSQL it lives, refuses with 503, says that it waits, and serves then")
    world.cluster.stop()
    server = subprocess.Popen(
        [world.options.program, "serve", "--database", world.cluster.url, "--listen",
         f"127.0.0.1:{world.options.port}", "--rate-limit", "off", "--shutdown-delay", "0s"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while world.ready() == 0 and server.poll() is None:
        time.sleep(0.02)
    clients = Clients(world.options.port)
    time.sleep(3)
    found.want(world.ready() == 503, "/ready was not red")
    found.want(not any(map(served, clients.ledger)), "somebody was answered without a database")
    world.cluster.start()
    back = clients.wait_for(served)
    found.see(f"first answer {back:.2f} s after PostgreSQL's start")
    found.want(back <= 5, f"the first answer came {back:.2f} s after PostgreSQL's start")
    time.sleep(1)
    ledger = clients.stop()
    found.judge(ledger, GIVEN_UP)
    found.account(ledger, world.cluster)
    found.want(world.ready() == 200, "/ready stayed red")
    server.send_signal(signal.SIGTERM)
    _, words = server.communicate(timeout=60)
    found.want("waiting for PostgreSQL" in words, "it did not say that it waits")
    return found


def password(world):
    found = Findings("password", "no word about a database that cannot be read or reached has its password")
    secret = "hunter:2"
    urls = [f"postgresql://u:{secret}@127.0.0.1:1/x", f"postgresql://u:p{secret}@w@127.0.0.1:1/x",
            f"postgresql://u:{secret}/w@127.0.0.1:1/x", f"postgresql://u:{secret}?@127.0.0.1/x",
            f"postgresql://u:{secret}%zz@127.0.0.1/x", f"postgresql://u@127.0.0.1/x?password={secret}&pasword={secret}",
            f"host=127.0.0.1 password={secret} port=one", f"host=127.0.0.1 password='{secret}", f"passwort={secret}",
            f"postgres://u:[{secret}@127.0.0.1/x", f"postgresql://u:{secret}@[::1/x", f"//u:{secret}@127.0.0.1:1/x"]
    for url in urls:
        for command in (["serve", "--listen", "127.0.0.1:0"], ["migrate"]):
            run = subprocess.Popen(
                [world.options.program, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                env={**os.environ, "DATABASE_URL": url})
            try:
                words, _ = run.communicate(timeout=2)
            except subprocess.TimeoutExpired:
                run.terminate()
                words, _ = run.communicate(timeout=60)
            found.want("hunter" not in words, f"{command[0]} with {url} said: {words.strip()}")
            found.want(run.returncode != 0 or command[0] == "serve", f"{command[0]} took {url}")
    found.see(f"{len(urls)} connection strings, to serve and to migrate")
    return found


def log(world):
    found = Findings("log", "with a full pipe for its output it serves, and hears SIGTERM")
    reading, writing = os.pipe()
    port = world.options.port
    server = subprocess.Popen(
        [world.options.program, "serve", "--database", world.cluster.url, "--listen", f"127.0.0.1:{port}",
         "--access-log", "all", "--rate-limit", "off", "--shutdown-delay", "0s"], stdout=writing, stderr=writing)
    os.close(writing)
    while world.ready() != 200:
        time.sleep(0.1)
    clients = Clients(port, readers=8, writers=0, pause=0)
    time.sleep(8)
    ledger = clients.stop()
    found.judge(ledger, set())
    begin = time.monotonic()
    server.send_signal(signal.SIGTERM)
    try:
        found.see(f"ended with {server.wait(30)} after {time.monotonic() - begin:.1f} s")
        found.want(server.returncode == 0, "it did not end in order")
    except subprocess.TimeoutExpired:
        found.want(False, "SIGTERM was not heard")
        server.kill()
    os.close(reading)
    return found


def readers(world):
    found = Findings("readers", "150 clients that do not read a large answer cost no more than its budget; "
                     "others are served")
    budget = 64 << 20
    server = world.serve("--maximum-buffered-bytes", str(budget))
    query = ("{ users(first: 100) { nodes { followers(first: 90) { nodes { %s } } } } }"
             % " ".join(f"a{n}x: bio b{n}x: username" for n in range(15)))
    body = json.dumps({"query": query}).encode()
    request = (b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
               + str(len(body)).encode() + b"\r\n\r\n" + body)
    size = len(json.dumps(server.execute(query)))
    before = server.resident_megabytes()["VmRSS"]
    clients = Clients(world.options.port, readers=4, writers=0)
    idle = []
    for _ in range(150):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(("127.0.0.1", world.options.port))
        one.sendall(request * 3)
        idle.append(one)
        time.sleep(0.02)
    time.sleep(3)
    most = server.resident_megabytes()["VmHWM"]
    time.sleep(12)
    gone = refused = 0
    for one in idle:
        one.setblocking(False)
        text = b""
        try:
            while data := one.recv(1 << 20):
                text += data
            gone += 1
        except BlockingIOError:
            # Short answers are on their way as a whole, and nothing is held for them.
            refused += text.count(b"HTTP/1.1 503 ") == 3
        except OSError:
            gone += 1
        one.close()
    ledger = clients.stop()
    found.judge(ledger, set())
    found.see(f"answers of {size >> 10} KiB; {before:.0f} MiB before, {most:.0f} at most; {gone} of 150 cut off, "
              f"{refused} refused")
    found.want(most - before <= 2 * (budget >> 20) + 32, f"{most - before:.0f} MiB were held")
    found.want(gone + refused == 150, "some who did not read were kept")
    server.stop()
    return found


def late(world):
    found = Findings("late", "who connects while the server ends is answered or refused; nobody hangs or is reset")
    server = world.serve("--shutdown-delay", "1s")
    counts = collections.Counter()
    longest = 0
    is_over = threading.Event()

    def come():
        nonlocal longest
        while not is_over.is_set():
            begin = time.monotonic()
            try:
                one = socket.create_connection(("127.0.0.1", world.options.port), timeout=20)
            except ConnectionRefusedError:
                counts["refused"] += 1
                time.sleep(0.005)
                continue
            try:
                with one:
                    one.sendall(b"GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    text = b""
                    while data := one.recv(1 << 16):
                        text += data
                counts["answered" if text.startswith(b"HTTP/1.1 ") else "closed"] += 1
            except OSError as error:
                counts[type(error).__name__] += 1
            longest = max(longest, time.monotonic() - begin)

    threads = [threading.Thread(target=come) for _ in range(16)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    # It lasts as long as somebody's request does.
    slow = socket.create_connection(("127.0.0.1", world.options.port))
    slow.sendall(b"GET /graphql?query=%7B__typename%7D HTTP/1.1\r\nHost: localhost\r\n")
    server.process.send_signal(signal.SIGTERM)
    time.sleep(4)
    found.want(server.process.poll() is None, "it ended before the last request")
    slow.sendall(b"\r\n")
    found.want(slow.recv(100).startswith(b"HTTP/1.1 200"), "the last request was not answered")
    slow.close()
    found.want(server.process.wait(30) == 0, f"it ended with {server.process.returncode}")
    is_over.set()
    for thread in threads:
        thread.join()
    found.see(", ".join(f"{number} {what}" for what, number in counts.most_common()) + f"; longest {longest:.2f} s")
    found.want(counts["refused"] > 0, "nobody was refused while the last request was served")
    broken = sum(counts.values()) - counts["answered"] - counts["refused"]
    found.want(not broken, f"{broken} clients were let in and not answered")
    return found


def reload(world):
    found = Findings("reload", "SIGHUP refuses what the start refuses, and no file keeps SIGTERM from being heard")
    certificate, key, log = (f"{world.folder}/{name}" for name in ("certificate.pem", "key.pem", "reload.log"))
    for case in ("a key that everybody may read", "a FIFO as key", "a FIFO as certificate", "a FIFO as log"):
        for path in (certificate, key, log):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
             "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        server = subprocess.Popen(
            [world.options.program, "serve", "--database", world.cluster.url, "--listen",
             f"127.0.0.1:{world.options.port}", "--tls-certificate", certificate, "--tls-key", key, "--log-file", log,
             "--shutdown-delay", "0s"], stdout=subprocess.PIPE, text=True)
        server.stdout.readline()
        words = open(log)
        if "everybody" in case:
            os.chmod(key, 0o644)
        else:
            path = {"key": key, "certificate": certificate, "log": log}[case.split()[-1]]
            os.unlink(path)
            os.mkfifo(path, 0o600)
        server.send_signal(signal.SIGHUP)
        begin, said = time.monotonic(), ""
        while "SIGHUP" not in said and time.monotonic() < begin + 5:
            said += words.read()
            time.sleep(0.05)
        found.want("warning: SIGHUP" in said, f"{case}: it was not refused")
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            found.want(False, f"{case}: SIGTERM was not heard")
            server.kill()
            server.wait()
        words.close()
        server.stdout.close()
    found.see("4 files")
    return found


def memory_group(megabytes):
    """A control group for what is to have no more memory; None where none can be made."""
    for line in open("/proc/self/cgroup"):
        _, controllers, path = line.strip().split(":", 2)
        if "memory" in controllers.split(","):
            folder, limits = f"/sys/fs/cgroup/memory{path}", ("memory.limit_in_bytes",)
        elif not controllers and os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
            folder, limits = f"/sys/fs/cgroup{path}", ("memory.max", "memory.swap.max")
        else:
            continue
        folder = f"{folder.rstrip('/')}/sociograph-faults-{os.getpid()}"
        try:
            os.mkdir(folder)
        except OSError:
            continue
        try:
            with open(f"{folder}/{limits[0]}", "w") as file:
                file.write(str(megabytes << 20))
            for name in limits[1:]:
                with contextlib.suppress(OSError), open(f"{folder}/{name}", "w") as file:
                    file.write("0")
            return folder
        except OSError:
            os.rmdir(folder)
    return None


def memory(world):
    found = Findings("memory", "in 256 MiB, 190 clients that do not read a large answer do not have it killed; others "
                     "are served")
    group = memory_group(256)
    if not group:
        found.see("not shown: no control group of memory can be made here")
        return found
    wrapper = f"{world.folder}/limited"
    with open(wrapper, "w") as file:
        file.write(f'#!/bin/sh\necho $$ > {group}/cgroup.procs && exec {os.path.abspath(world.options.program)} "$@"\n')
    os.chmod(wrapper, 0o755)
    words = f"{world.folder}/memory.log"
    server = graph.Server(
        wrapper, ["--database", world.cluster.url, "--rate-limit", "off", "--log-file", words,
                  "--maximum-connections-per-address", "1000"], world.options.port, log=world.log)
    query = ("{ users(first: 100) { nodes { followers(first: 90) { nodes { %s } } } } }"
             % " ".join(f"a{n}x: bio b{n}x: username" for n in range(15)))
    body = json.dumps({"query": query}).encode()
    request = (b"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
               + str(len(body)).encode() + b"\r\n\r\n" + body)
    size = len(json.dumps(server.execute(query)))
    clients = Clients(world.options.port, readers=2, writers=0)
    idle = []
    for _ in range(190):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with contextlib.suppress(OSError):
            one.connect(("127.0.0.1", world.options.port))
            one.sendall(request * 3)
        idle.append(one)
        time.sleep(0.02)
    time.sleep(6)
    lives = server.process.poll() is None
    most = server.resident_megabytes()["VmHWM"] if lives else 0
    for one in idle:
        one.close()
    ledger = clients.stop()
    found.judge(ledger, set())
    found.see(f"answers of {size >> 10} KiB; {most:.0f} MiB at most")
    found.want(lives, f"it ended with {server.process.returncode}")
    found.want("because the memory limit is 256 MiB" in open(words).read(), "it did not say what it may hold")
    if lives:
        server.stop()
    with contextlib.suppress(OSError):
        os.rmdir(group)
    return found


def preload(world):
    found = Findings("preload", "a library that sets a variable before the program begins leaves it its arguments")
    source, library = f"{world.folder}/preload.c", f"{world.folder}/preload.so"
    with open(source, "w") as file:
        file.write('#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) '
                   '{ setenv("PRELOADED", "yes", 1); }\n')
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        found.see("not shown: there is no C compiler here")
        return found
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    run = subprocess.run([world.options.program, "version"], capture_output=True, text=True,
                         env={**os.environ, "LD_PRELOAD": library})
    found.see(f"version says: {(run.stdout or run.stderr).splitlines()[0]}")
    found.want(run.returncode == 0 and run.stdout.startswith("sociograph "), "its arguments were lost")
    return found


def initdb(world):
    found = Findings("initdb", "killed at any moment of its first start, the next start serves")
    good = 0
    for round in range(world.options.rounds):
        data = world.sub(f"first-{round}")
        arguments = [world.options.program, "serve", "--data", data, "--listen", f"127.0.0.1:{world.options.port}"]
        first = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.02, 4))
        first.kill()
        first.wait()
        server = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        is_ready = False
        for _ in range(1200):
            is_ready = world.ready() == 200
            if is_ready or server.poll() is not None:
                break
            time.sleep(0.1)
        good += is_ready
        server.terminate()
        _, words = server.communicate(timeout=120)
        if not is_ready:
            found.broken.append("a start failed: " + " / ".join(words.splitlines()[-3:]))
        shutil.rmtree(data, ignore_errors=True)
    found.see(f"{good} of {world.options.rounds} starts")
    return found


FAULTS = [kill, slain, restart, crash, freeze, blackhole, cut, failover, hosts, pgbouncer, locked, distance, early,
          password, drain, late, hangup, reload, halfclose, log, readers, memory, preload, initdb, returned]


# MARK: The soak


def proportional(process):
    """What a process has for itself, in MiB: of pages that it shares, its part."""
    # It may end meanwhile.
    with contextlib.suppress(OSError), open(f"/proc/{process}/smaps_rollup") as lines:
        for line in lines:
            if line.startswith("Pss_Anon:"):
                return int(line.split()[1]) / 1024
    return 0


def soak(world, minutes):
    """Documents that change, viewers that change, and a backend that is ended every minute."""
    found = Findings("soak", "memory of the process and of its backends is flat after ten minutes")
    server = world.serve()
    tokens = [None] + [f"demo-{name}" for name in world.cluster.sql(
        "SELECT username FROM app_user ORDER BY id LIMIT 8").split()]
    fields = ["id", "username", "displayName", "bio", "createdAt", "followers(first: {n}) {{ totalCount }}",
              "posts(first: {n}) {{ nodes {{ id body createdAt }} }}",
              "posts(first: {n}) {{ nodes {{ id author {{ displayName }} comments(first: {n}) {{ totalCount }} }} }}"]
    is_over = threading.Event()
    counts = collections.Counter()

    def ask(seed):
        dice = random.Random(seed)
        connection = http.client.HTTPConnection("127.0.0.1", world.options.port, timeout=60)
        while not is_over.is_set():
            chosen = [f"f{dice.randrange(10 ** 6)}: " + dice.choice(fields).format(n=dice.randint(1, 20))
                      for _ in range(dice.randint(1, 6))]
            body = {"query": f"query N{dice.randrange(10 ** 6)} {{ users(first: {dice.randint(1, 10)}) "
                             f"{{ nodes {{ {' '.join(chosen)} }} }} }}"}
            headers = {"Content-Type": "application/json"}
            token = dice.choice(tokens)
            if token:
                headers["Authorization"] = f"Bearer {token}"
            try:
                connection.request("POST", "/graphql", json.dumps(body), headers)
                answer = connection.getresponse()
                answer.read()
                counts[answer.status] += 1
            except (OSError, http.client.HTTPException):
                connection.close()
                counts[0] += 1
            time.sleep(0.005)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    begin = time.monotonic()
    samples = []
    while time.monotonic() < begin + 60 * minutes:
        time.sleep(30)
        found_backends = [int(process) for process in backends(world.cluster)]
        memory = [size for process in found_backends if (size := proportional(process))]
        samples.append((time.monotonic() - begin, proportional(server.process.pid), sum(memory), max(memory, default=0)))
        say("%5.0f s: process %.1f MiB, %d backends %.1f MiB, the largest %.1f, %d answers" % (
            *samples[-1][:2], len(memory), *samples[-1][2:], sum(counts.values())))
        if world.options.chaos and len(samples) % 2 == 0 and found_backends:
            world.cluster.sql(f"SELECT pg_terminate_backend({random.choice(found_backends)})")
    is_over.set()
    for thread in threads:
        thread.join()
    server.stop()
    found.see(", ".join(f"{number} x {status}" for status, number in counts.most_common()))
    found.want(set(counts) <= {200, 503}, "answers other than 200 and 503")
    late = [sample for sample in samples if sample[0] >= min(600, 30 * minutes)]
    # Backends come and go, idle ones too, so what they take together says less than the largest of them.
    for name, place in (("process", 1), ("largest backend", 3)):
        values = [sample[place] for sample in late]
        half = len(values) // 2
        first, second = (sum(part) / max(len(part), 1) for part in (values[:half], values[half:]))
        found.see(f"{name} {first:.1f} MiB, then {second:.1f}")
        found.want(second <= first * 1.05 + 1, f"{name} grew from {first:.1f} to {second:.1f} MiB")
    return found


def main():
    parser = argparse.ArgumentParser(
        prog="script/faults", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", metavar="FAULT",
                        help="which: " + ", ".join(fault.__name__ for fault in FAULTS) + " (default: all)")
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--log", metavar="FILE", help="where the servers' logs go (default: nowhere)")
    parser.add_argument("--port", type=int, default=18081)
    parser.add_argument("--seconds", type=int, default=10, help="of measuring with distance (default 10)")
    parser.add_argument("--rounds", type=int, default=10, help="of killed first starts (default 10)")
    parser.add_argument("--soak", type=float, metavar="MINUTES",
                        help="changing documents and viewers for so long, instead")
    parser.add_argument("--chaos", action="store_true", help="end a backend every minute of the soak")
    options = parser.parse_args()
    known = {fault.__name__: fault for fault in FAULTS}
    for name in options.faults:
        if name not in known:
            parser.error(f"there is no fault {name}")
    with tempfile.TemporaryDirectory(prefix="sociograph-faults-") as folder:
        os.chmod(folder, 0o755)
        world = World(options, folder)
        broken = 0
        try:
            if options.soak:
                works = [lambda world: soak(world, options.soak)]
            else:
                works = [known[name] for name in options.faults] or FAULTS
            for work in works:
                try:
                    found = work(world)
                except (SystemExit, subprocess.SubprocessError, OSError) as error:
                    found = Findings(getattr(work, "__name__", "soak"), "to be done at all")
                    found.broken.append(f"{type(error).__name__}: {error}")
                found.print()
                broken += bool(found.broken)
        finally:
            world.close()
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
