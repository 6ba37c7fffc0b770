"""What clients see of `sociograph serve --replica-database`, with a primary and two standbys.

Each check says what it found and what is allowed, and the exit code whether all is within it. Two servers
run side by side over the same database.
"""

import argparse
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import graph
from faults import Cluster

TOKEN = "demo-marisol"
WRITE = 'mutation($b: String!) { updateProfile(input: {bio: $b}) { userErrors { code } } }'
READ = 'query { viewer { user { bio } } }'
SIGN_UP = """mutation($n: String!) { signUp(input: {username: $n, password: "a long enough horse", email: $n}) {
  token userErrors { code } } }"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Client:
    """A connection that is kept, and the position of the last write."""

    def __init__(self, port, token=TOKEN):
        self.port, self.token, self.position, self.address = port, token, None, None
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)

    def ask(self, query, variables=None, position=None):
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.address:
            headers["X-Forwarded-For"] = self.address
        if position:
            headers["Sociograph-Position"] = position
        try:
            self.connection.request(
                "POST", "/graphql", json.dumps({"query": query, "variables": variables or {}}), headers)
            answer = self.connection.getresponse()
            body = json.load(answer)
        except (OSError, http.client.HTTPException):
            self.connection.close()
            return None, {}
        self.position = answer.headers.get("Sociograph-Position") or self.position
        return answer.status, body

    def write(self, text):
        status, body = self.ask(WRITE, {"b": text})
        data = body.get("data") or {}
        return status == 200 and "errors" not in body and (data.get("updateProfile") or {}).get("userErrors") == []

    def read(self, position=None):
        status, body = self.ask(READ, position=position)
        try:
            return body["data"]["viewer"]["user"]["bio"]
        except (KeyError, TypeError):
            return None


class World:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.log = open(options.log, "a") if options.log else subprocess.DEVNULL
        self.clusters, self.servers = [], []
        self.photos = self.sub("photos")
        self.ports = [free_port() for _ in range(2)]
        self.admin_ports = [free_port() for _ in range(2)]
        self.primary = self.keep(Cluster(self.sub("primary")))
        for setting in ("wal_compression = off", "max_connections = 200", "wal_keep_size = '256MB'",
                        "hot_standby_feedback = on"):
            self.primary.sql(f"ALTER SYSTEM SET {setting}")
        self.primary.restart()
        say("loading a graph of scale 1")
        for command in ("migrate", "seed"):
            subprocess.run([options.program, command, "--database", self.primary.url], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.standbys = [self.keep(Cluster.following(self.primary, self.sub(name))) for name in ("one", "two")]
        self.serve()

    def sub(self, name):
        path = f"{self.folder}/{name}"
        os.mkdir(path)
        os.chmod(path, 0o755)
        return path

    def keep(self, cluster):
        self.clusters.append(cluster)
        return cluster

    def serve(self, *arguments):
        hosts = ",".join(cluster.folder for cluster in [self.primary, *self.standbys])
        replicas = ",".join(cluster.folder for cluster in self.standbys)
        for number in (0, 1):
            self.servers.append(graph.Server(
                self.options.program,
                ["--trusted-proxies", "127.0.0.1", "--database", f"host={hosts} user=sociograph dbname=sociograph "
                 "target_session_attrs=read-write", "--replica-database",
                 f"host={replicas} user=sociograph dbname=sociograph", "--replica-lag", "3s", "--rate-limit", "off",
                 "--rate-limit-address", "off", "--slow-operation", "off", "--shutdown-delay", "0s",
                 "--photos", self.photos, "--admin-listen", f"127.0.0.1:{self.admin_ports[number]}", *arguments], self.ports[number],
                log=self.log))
        time.sleep(2.5)

    def client(self, server=0, token=TOKEN):
        return Client(self.ports[server], token)

    def metric(self, name, server=0):
        """The samples of a metric, by its label."""
        text = urllib.request.urlopen(f"http://127.0.0.1:{self.admin_ports[server]}/metrics").read().decode()
        lines = [line for line in text.splitlines() if line.startswith(name + "{")]
        return {line.split('"')[1]: float(line.rsplit(" ", 1)[1]) for line in lines}

    def reads(self, server=0):
        """Reads by the place where they ran."""
        return self.metric("sociograph_reads_total", server)

    def reads_of_replicas(self):
        return self.metric("sociograph_replica_reads_total")

    def until(self, condition, patience=15.0):
        began = time.monotonic()
        while time.monotonic() < began + patience:
            if condition():
                return time.monotonic() - began
            time.sleep(0.02)
        return float("inf")

    def each(self, statement):
        for standby in self.standbys:
            standby.sql(statement)

    def close(self):
        for server in self.servers:
            server.process.kill()
            server.process.wait()
        for cluster in self.clusters:
            if cluster.is_up():
                try:
                    cluster.stop()
                except subprocess.CalledProcessError:
                    pass


def say(text):
    print(f"replicas: {text}", file=sys.stderr, flush=True)


class Findings:
    def __init__(self, is_timed):
        self.failures, self.is_timed = 0, is_timed

    def hold_time(self, name, value, text):
        """What depends on how fast the machine is."""
        self.hold(name, value or not self.is_timed, text)

    def hold(self, name, value, text):
        self.failures += not value
        print(f"{'ok  ' if value else 'FAIL'} {name}: {text}", flush=True)


def difference(after, before):
    return {name: after[name] - before.get(name, 0) for name in after}


def own_writes(world, found, count, name, least=None, other=True):
    """Writes and reads of what was written, by the same server and by the other with the header."""
    for server, place in ((0, "same server"), (1, "other server, with the header")):
        if server and not other:
            continue
        writer = world.client(0)
        reader = writer if server == 0 else world.client(1)
        before, stale = world.reads(server), 0
        for number in range(count):
            text = f"{name} {server} {number}"
            if not writer.write(text):
                found.hold(f"own writes, {name}, {place}", False, "a write failed")
                return
            stale += reader.read(writer.position if server else None) != text
        places = difference(world.reads(server), before)
        total = max(sum(places.values()), 1)
        share = places["replica"] / total
        found.hold(f"own writes, {name}, {place}", stale == 0 and (share >= (least or 0) or not found.is_timed),
                   f"{stale} of {count} stale, {share:.1%} of the reads by a replica"
                   + (f" (at least {least:.0%})" if least else ""))


def without_delay(world, found, quick):
    own_writes(world, found, 300 if quick else 2500, "no delay", least=0.95)


def delayed(world, found, quick):
    world.each("ALTER SYSTEM SET recovery_min_apply_delay = '200ms'")
    world.each("SELECT pg_reload_conf()")
    time.sleep(0.5)
    own_writes(world, found, 100 if quick else 500, "200 ms of delay")
    world.each("ALTER SYSTEM RESET recovery_min_apply_delay")
    world.each("SELECT pg_reload_conf()")
    time.sleep(0.5)


def paused(world, found, quick):
    reader, text = world.client(), "before the pause"
    reader.write(text)
    reader.read()
    world.each("SELECT pg_wal_replay_pause()")
    own_writes(world, found, 100 if quick else 500, "replay paused")
    # A session that is revoked is over, whatever a standby still has.
    people = world.client(token=None)
    name = f"p{time.time_ns()}"
    _, body = people.ask(SIGN_UP.replace("email: $n", f'email: "{name}@mail.example"'), {"n": name})
    token = ((body.get("data") or {}).get("signUp") or {}).get("token")
    person, elsewhere = world.client(0, token), world.client(1, token)
    known = person.ask(READ)[0] == 200 and elsewhere.ask(READ)[0] == 200
    person.ask("mutation { signOut { userErrors { code } } }")
    gone = world.until(lambda: elsewhere.ask(READ)[0] == 401, 10)
    found.hold_time("revocation with replay paused", known and gone <= 5, f"401 elsewhere after {gone:.2f} s (5)")
    after, _ = elsewhere.ask(WRITE, {"b": "after the end"})
    found.hold("mutations after the revocation", after == 401, f"status {after}")
    world.each("SELECT pg_wal_replay_resume()")
    world.until(lambda: world.client().read() is not None)
    time.sleep(3)


def sign_ups(world, found, quick):
    known = 0
    for number in range(20):
        name = f"n{time.time_ns()}"
        client = world.client(token=None)
        _, body = client.ask(SIGN_UP.replace("email: $n", f'email: "{name}@mail.example"'), {"n": name})
        client.token = ((body.get("data") or {}).get("signUp") or {}).get("token")
        status, body = client.ask("{ viewer { user { username } } }")
        try:
            known += body["data"]["viewer"]["user"]["username"] == name
        except (KeyError, TypeError):
            pass
    found.hold("sign-up", known == 20, f"{known} of 20 are known at once")


def there_and_back(world, found, quick):
    """Both standbys stop and return."""
    errors, is_over = [], threading.Event()

    def ask():
        client = world.client()
        while not is_over.is_set():
            status, _ = client.ask("{ users(first: 1) { nodes { id } } }")
            if status != 200:
                errors.append(status)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for standby in world.standbys:
        standby.stop()
    time.sleep(2)
    for standby in world.standbys:
        standby.start()

    def is_back():
        before = world.reads()
        time.sleep(0.3)
        places = difference(world.reads(), before)
        return places["replica"] > 0.9 * max(sum(places.values()), 1)

    back = world.until(is_back, 20)
    is_over.set()
    for thread in threads:
        thread.join()
    found.hold("both standbys gone", not errors, f"{len(errors)} reads failed {sorted(set(map(str, errors)))}")
    found.hold_time("both standbys back", back <= 5, f"reads on them again after {back:.1f} s (5)")
    # Clients are spread over both.
    time.sleep(2)
    before = world.reads_of_replicas()
    for number in range(400):
        client = world.client(token=None)
        client.address = f"10.1.{number // 200}.{number % 200}"
        client.ask("{ users(first: 1) { nodes { id } } }")
    shares = difference(world.reads_of_replicas(), before)
    share = max(shares.values()) / max(sum(shares.values()), 1)
    found.hold_time("shares", share <= 0.6, f"{share:.0%} and {1 - share:.0%} of the reads of 400 clients (40 to 60 %)")


def rate(world, found, quick):
    """The rate of reads of one who never wrote, over that of one who wrote before each hundredth."""
    client = world.client()

    def measure(writes):
        busy, count = 0.0, 0
        while busy < (1 if quick else 2):
            if writes and count % 100 == 0:
                client.write(f"rate {count}")
            began = time.monotonic()
            client.read()
            busy += time.monotonic() - began
            count += 1
        return count / busy

    ratios = []
    for _ in range(3 if quick else 7):
        plain = measure(False)
        ratios.append(measure(True) / plain)
    ratio = sorted(ratios)[len(ratios) // 2]
    found.hold_time("rate with positions", ratio >= 0.9, f"{ratio:.2f} of that without (0.9)")


def mix(world, found, quick):
    """The showcase's queries: which of them reach the primary."""
    client = world.client()
    known = graph.variables(world.servers[0], TOKEN)
    # What the primary answered is asked of the standbys, which have it once its log is flushed.
    time.sleep(1)
    before, count, places = world.reads(), 0, {}
    # changes(since:) compares snapshots of transactions, which only the primary has.
    names = sorted(os.listdir(graph.OPERATIONS), key=lambda name: (name.startswith("Q19"), name))
    for name in names:
        if name.startswith("M"):
            continue
        if name.startswith("Q19"):
            places = difference(world.reads(), before)
        text = open(f"{graph.OPERATIONS}/{name}/operation.graphql").read()
        for _ in range(20):
            status, body = client.ask(text, known.get(name.split("_")[0]))
            count += status == 200 and "errors" not in body
    share, whole = (1 - some["replica"] / max(sum(some.values()), 1)
                    for some in (places, difference(world.reads(), before)))
    found.hold_time("the mix of reads", count > 0 and share < 0.05,
               f"{share:.1%} of the statements reached the primary (5 %); with changes(since:) {whole:.1%}; {places}")


def pictures(world, found, quick):
    """A picture that one server takes is shown by both, and so is its square."""
    data = open("sql/demo/photos/post-harbour.png", "rb").read()
    request = urllib.request.Request(
        f"http://127.0.0.1:{world.ports[0]}/photos", data,
        {"Authorization": f"Bearer {TOKEN}", "Content-Type": "image/png"})
    url = json.load(urllib.request.urlopen(request))["url"]
    client = world.client()
    _, body = client.ask("""mutation($u: URL!) { createPhoto(input: {url: $u, altText: "A boat."}) {
      photo { url square: url(shape: SQUARE, width: 160) } userErrors { code } } }""", {"u": url})
    if "data" not in body:
        sys.exit(f"replicas: {body}")
    photo = body["data"]["createPhoto"]["photo"]
    seen = []
    for port in world.ports:
        for path in (photo["url"], photo["square"]):
            path = path[path.index("/photos/"):]
            answer = urllib.request.urlopen(urllib.request.Request(
                f"http://127.0.0.1:{port}{path}", headers={"Authorization": f"Bearer {TOKEN}"}))
            seen.append((answer.status, answer.headers["Content-Type"], len(answer.read())))
    found.hold("pictures of one folder", len(seen) == 4 and seen[:2] == seen[2:] and all(
        status == 200 and kind == "image/png" and size > 500 for status, kind, size in seen), f"{seen}")


def events(world, found, quick):
    """A subscription at one server, comments at the other, while transactions are open that began before."""
    client = world.client()
    _, body = client.ask("{ posts(first: 1) { nodes { id } } }")
    post = body["data"]["posts"]["nodes"][0]["id"]
    heard, is_ready, overlapping = {}, threading.Event(), 20 if quick else 50
    expected = 2 * overlapping

    def listen():
        request = urllib.request.Request(
            f"http://127.0.0.1:{world.ports[1]}/graphql",
            json.dumps({"query": 'subscription($id: ID!) { commentAdded(subjectId: $id) { body } }',
                        "variables": {"id": post}}).encode(),
            {"Content-Type": "application/json", "Accept": "text/event-stream", "Authorization": f"Bearer {TOKEN}"})
        try:
            with urllib.request.urlopen(request, timeout=60) as stream:
                is_ready.set()
                for line in stream:
                    if line.startswith(b"data: {"):
                        text = json.loads(line[6:])["data"]["commentAdded"]["body"]
                        heard.setdefault(text, []).append(time.monotonic())
                        if len(heard) == expected:
                            return
        except OSError:
            pass

    thread = threading.Thread(target=listen)
    thread.start()
    is_ready.wait(60)
    time.sleep(0.5)
    sent = {}

    def comment(text):
        sent[text] = time.monotonic()
        client.ask("mutation($i: ID!, $b: String!) { addComment(subjectId: $i, body: $b) { userErrors { code } } }",
                   {"i": post, "b": text})
        sent[text] = time.monotonic()

    # Each is open while some others commit, and commits behind them.
    author = world.primary.sql("SELECT id FROM app_user WHERE username = 'marisol'")
    number = world.primary.sql("SELECT id FROM post WHERE wire_id(id) = '%s'" % post)
    processes = [subprocess.Popen(
        ["psql", "-X", "-q", "-h", world.primary.folder, "-U", "sociograph", "-d", "sociograph"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        env={**os.environ, "PGOPTIONS": "-c search_path=graph"}) for _ in range(5)]
    for turn in range(overlapping // 5):
        for process in processes:
            process.stdin.write("BEGIN; SELECT pg_current_xact_id();\n")
            process.stdin.flush()
        for some in range(5):
            comment(f"beside {turn} {some}")
        for place, process in enumerate(processes):
            process.stdin.write(f"INSERT INTO comment (subject_id, author_id, body) VALUES "
                                f"({number}, {author}, 'open {turn} {place}'); COMMIT;\n")
            process.stdin.flush()
    for process in processes:
        process.stdin.close()
        process.wait()
    thread.join(90)
    wanted = {f"open {turn} {place}" for turn in range(overlapping // 5) for place in range(5)} | set(sent)
    lost, twice = wanted - set(heard), [text for text, times in heard.items() if len(times) > 1]
    found.hold("overlapping events", not lost and not twice,
               f"{len(lost)} of {len(wanted)} lost, {len(twice)} told twice {sorted(lost)[:5]}")
    late = sorted(1000 * (heard[text][0] - sent[text]) for text in sent if text in heard)
    p99 = late[min(int(len(late) * 0.99), len(late) - 1)] if late else float("inf")
    found.hold_time("events over two servers", p99 <= 50, f"p99 {p99:.0f} ms behind the response (50)")


def orphan_and_fail_over(world, found, quick):
    """The primary dies, one standby is promoted, and the other one follows nobody."""
    errors, is_over = [], threading.Event()

    def read():
        # A signed-in client's session is looked up on the primary every five seconds. Of another address
        # than who writes: what that one wrote may be known to the primary alone for a moment.
        client = world.client(token=None)
        client.address = "10.9.0.1"
        while not is_over.is_set():
            status, _ = client.ask("{ users(first: 1) { nodes { id } } }")
            if status != 200:
                errors.append(status)
            time.sleep(0.005)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    world.primary.stop()
    time.sleep(2)
    promoted, orphan = world.standbys
    promoted.promote()
    began = time.monotonic()
    writer, stale, unanswered, written, refused = world.client(), 0, 0, 0, 0.0
    while time.monotonic() < began + 4 or not written:
        text = f"promoted {time.time_ns()}"
        if writer.write(text):
            written += 1
            found_text = writer.read()
            unanswered += found_text is None
            stale += found_text not in (None, text)
        else:
            refused = time.monotonic() - began
        time.sleep(0.005)
    found.hold_time("writes after a promotion", refused <= 1, f"the last is refused {refused:.2f} s after it (1)")
    found.hold("own writes after a promotion", stale == 0,
               f"{stale} of {written} stale, {unanswered} not answered")

    def is_out():
        writer.write(f"more {time.time_ns()}")
        return not any(up for host, up in world.metric("sociograph_replica_up").items() if orphan.folder in host)

    out = world.until(is_out, 15) if not is_out() else time.monotonic() - began
    found.hold_time("an orphaned standby", out <= 5, f"out after {out:.1f} s (3 s of --replica-lag, and 2)")
    is_over.set()
    for thread in threads:
        thread.join()
    found.hold_time("reads during the fail-over", not errors, f"{len(errors)} failed {sorted(set(map(str, errors)))}")


CHECKS = {
    "own-writes": without_delay, "delayed": delayed, "paused": paused, "sign-ups": sign_ups,
    "there-and-back": there_and_back, "rate": rate, "mix": mix, "pictures": pictures, "events": events, "fail-over": orphan_and_fail_over,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="NAME", help="of: " + ", ".join(CHECKS) + "; all without")
    parser.add_argument("--program", default=".build/release/sociograph", help="the build that serves")
    parser.add_argument("--no-times", action="store_true", help="hold only what does not depend on the machine")
    parser.add_argument("--quick", action="store_true", help="fewer requests of each kind")
    parser.add_argument("--log", help="where the servers' words go")
    options = parser.parse_args()
    unknown = set(options.checks) - set(CHECKS)
    if unknown:
        parser.error(f"there is no check {', '.join(sorted(unknown))}")
    folder = tempfile.mkdtemp(prefix="sociograph-replicas-", dir="/tmp")
    os.chmod(folder, 0o755)
    found, world = Findings(not options.no_times), None
    try:
        world = World(options, folder)
        # The last one ends the primary.
        for name, check in CHECKS.items():
            if not options.checks or name in options.checks:
                say(name)
                check(world, found, options.quick)
    finally:
        if world:
            world.close()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if found.failures else 0)


if __name__ == "__main__":
    main()
