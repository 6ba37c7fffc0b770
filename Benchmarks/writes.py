"""Mutations per second of `sociograph serve` over transactions per second of pgbench.

Each of the mutations M1 to M5 is sent by `sociograph load`, faster than the server answers, with a key of the
client's, each request by a user and about a thing drawn from thousands; beside it pgbench -M prepared sends the very statements the server sends, in a pipeline of
its own without BEGIN and COMMIT, against the same cluster with durable commits. The two alternate; ratios
are medians over the rounds.

What the server sends is seen on the wire: first it runs behind a proxy, which also counts the waits (Syncs)
of a mutation. Then comes what a creation's request row costs, and what a storm of sign-ins leaves of Q02.
"""

import argparse
import itertools
import os
import re
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

import graph
from saturation import Load

USERS = 2000
# Mutations sent before one is looked at: more than there are connections for them.
WARM_UP = 40
THINGS = 2000
# pgbench's settings for its connections: as the server's.
SETTINGS = "-c plan_cache_mode=force_generic_plan -c jit=off -c search_path=graph"

MUTATIONS = {
    "M1": ("castVote", """mutation CastVote($id: ID!) { castVote(postId: $id, choice: WEAR_IT) {
  post { id viewerVote verdict { text wearItCount changeItCount leading } } userErrors { code message field } } }""",
           "outfit"),
    "M2": ("respondToOffer", """mutation RespondToOffer($id: ID!) { respondToOffer(cardOfferId: $id) {
  cardOffer { id isOpen responseCount responseLimit viewerActions viewerFollowUp { id state } }
  userErrors { code message field } } }""", "offer"),
    "M3": ("react", """mutation TopAPlace($id: ID!) { react(subjectId: $id, kind: TOP) {
  subject { id reactionCount(kind: TOP) viewerReactions } userErrors { code message } } }""", "place"),
    "M4": ("createEvent", """mutation CreatePrivateEvent($id: ID!) { createEvent(input: {title: "Dinner",
  startsAt: "2041-05-05T18:00:00Z", visibility: INVITED, inviteUserIds: [$id]}) {
  event { id title startsAt visibility location { id name } attendees(status: null, first: 0) { totalCount } }
  userErrors { code message field } } }""", "friend"),
    "M5": ("bookClassSession", """mutation BookSession($id: ID!) { bookClassSession(classSessionId: $id) {
  booking { id cancelledAt classSession { id title startsAt endsAt seatsLeft trainer { displayName } location { name } } }
  userErrors { code message field } } }""", "session"),
}
TAGS = {"user": 1, "outfit": 16, "offer": 19, "place": 3, "friend": 1, "session": 41}


def sql(connection, text):
    return subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", connection, "-c", text],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PGOPTIONS": SETTINGS}).stdout.strip()


def prepare(connection):
    """Users and things whose ids stand side by side; gives the first of each."""
    sql(connection, f"""
DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench;
CREATE TABLE bench.made (kind text, n int, id bigint);
CREATE FUNCTION bench.fill(kind text, tag int, number int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE first bigint;
BEGIN
  -- one jump of the sequence, so that the ids are an arithmetic series
  first := new_node(tag);
  PERFORM setval('node_seq', (first >> 8) + number);
  INSERT INTO bench.made SELECT kind, g, first + g * 256::bigint FROM generate_series(0, number - 1) g;
END $$;
SELECT bench.fill('user', 1, {USERS}), bench.fill('outfit', 16, {THINGS}), bench.fill('offer', 19, {THINGS}),
  bench.fill('place', 3, {THINGS}), bench.fill('session', 41, {THINGS}), bench.fill('trainer', 1, {THINGS});
INSERT INTO app_user (id, username, display_name, name_key, address, roles)
SELECT id, 'bench_' || kind || n || '_' || id, 'Bench', 'bench', 'Road', CASE kind WHEN 'user' THEN '{{MEMBER}}'
  ELSE '{{MEMBER,TRAINER}}' END::text[] FROM bench.made WHERE kind IN ('user', 'trainer');
INSERT INTO session (token_hash, user_id, expires_at, last_used_at)
SELECT sha256(convert_to('bench-' || n, 'UTF8')), id, now() + interval '1 day', now() + interval '1 day'
FROM bench.made WHERE kind = 'user' ON CONFLICT (token_hash) DO UPDATE SET user_id = EXCLUDED.user_id;
INSERT INTO location (id, name, name_key, level) SELECT id, 'Bench', 'bench', 'PLACE' FROM bench.made WHERE kind = 'place';
INSERT INTO post (id, author_id, body) SELECT m.id, (SELECT id FROM bench.made WHERE kind = 'trainer' AND n = m.n), 'x'
FROM bench.made m WHERE kind IN ('outfit', 'offer');
INSERT INTO votable_post (post_id, voting_enabled) SELECT id, true FROM bench.made WHERE kind = 'outfit';
INSERT INTO card_post (post_id) SELECT id FROM bench.made WHERE kind = 'offer';
WITH p AS (INSERT INTO program (title, training, duration_minutes) VALUES ('Bench', 'GROUP', 30) RETURNING id),
  t AS (INSERT INTO program_trainer (program_id, trainer_id) SELECT p.id, m.id FROM p, bench.made m
    WHERE m.kind = 'trainer' RETURNING program_id)
SELECT 1;
INSERT INTO class_session (id, program_id, trainer_id, starts_at, ends_at, capacity)
SELECT m.id, (SELECT max(id) FROM program WHERE title = 'Bench'), t.id, '2041-01-01', '2041-01-02', 100000
FROM bench.made m JOIN bench.made t ON t.kind = 'trainer' AND t.n = m.n WHERE m.kind = 'session';
ANALYZE""")
    rows = sql(connection, "SELECT kind, min(id) FROM bench.made GROUP BY 1").splitlines()
    return {kind: int(first) for kind, first in (row.split("|") for row in rows)}


def wire(number):
    """The id of a node as clients know it: base64url of its bytes, as short as can be."""
    import base64
    size = max(1, (number.bit_length() + 7) // 8)
    return base64.urlsafe_b64encode(number.to_bytes(size, "big")).decode().rstrip("=")


class Proxy:
    """Stands between the server and PostgreSQL and notes what the server sends."""

    def __init__(self, target):
        self.folder = tempfile.mkdtemp(prefix="sociograph-proxy-")
        os.chmod(self.folder, 0o755)
        self.target = target
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.folder, ".s.PGSQL.5432"))
        self.listener.listen(64)
        self.messages = []
        self.is_recording = False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            threading.Thread(target=self.pump, args=(server, client, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(client, server, True), daemon=True).start()

    def pump(self, source, sink, is_watched):
        buffer, started, statements = b"", False, {}
        while True:
            try:
                data = source.recv(65536)
            except OSError:
                data = b""
            if not data:
                for one in (source, sink):
                    try:
                        one.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass
                return
            if is_watched:
                buffer += data
                while True:
                    head = 0 if not started else 1
                    if len(buffer) < head + 4:
                        break
                    length = struct.unpack("!i", buffer[head:head + 4])[0] + head
                    if len(buffer) < length:
                        break
                    message, buffer = buffer[:length], buffer[length:]
                    if not started:
                        # An SSL or GSS request is answered before the start-up message comes.
                        started = struct.unpack("!i", message[4:8])[0] >> 16 == 3
                        continue
                    self.note(message, statements)
            sink.sendall(data)

    def note(self, message, statements):
        kind, body = chr(message[0]), message[5:]
        if kind == "P":
            name, text = body.split(b"\0")[:2]
            statements[name] = text.decode()
        if not self.is_recording:
            return
        if kind == "B":
            portal, name = body.split(b"\0")[:2]
            rest = body[len(portal) + len(name) + 2:]
            formats = struct.unpack_from("!h", rest)[0]
            at = 2 + 2 * formats
            count = struct.unpack_from("!h", rest, at)[0]
            at += 2
            values = []
            for _ in range(count):
                size = struct.unpack_from("!i", rest, at)[0]
                at += 4
                values.append(None if size < 0 else rest[at:at + size])
                at += max(size, 0)
            self.messages.append(("B", statements.get(name, "?"), values))
        elif kind in "SH":
            self.messages.append((kind, None, None))


def record(options, target, first):
    """The statements of each mutation, and the number of its Syncs."""
    proxy = Proxy(target)
    server = graph.Server(
        options.program,
        ["--database", f"host={proxy.folder} port=5432 user=sociograph dbname=sociograph"],
        options.port)
    found = {}
    try:
        for name, (_, document, kind) in MUTATIONS.items():
            # First for the statements to be prepared on each connection, then to be looked at: one beside which nobody
            # was asked whose the token is, and no connection whether it still answers.
            for number in itertools.count():
                proxy.messages = []
                proxy.is_recording = number >= WARM_UP
                thing = first["user" if kind == "friend" else kind] + 256 * (5 + number)
                answer = server.execute(document, {"id": wire(thing)}, "bench-2")
                errors = list(answer.values())[0]["userErrors"]
                if errors:
                    sys.exit(f"bench: {name} was refused: {errors}")
                if proxy.is_recording and not any(
                        text == "" or "viewer_of_session" in (text or "") for _, text, _ in proxy.messages):
                    break
            proxy.is_recording = False
            bound = [(text, values) for kind_, text, values in proxy.messages if kind_ == "B"]
            syncs = sum(1 for kind_, _, _ in proxy.messages if kind_ == "S")
            found[name] = (bound, syncs, first["user"] + 256 * 2, thing)
    finally:
        server.stop()
    return found


def pgbench_script(bound, viewer, thing, first, kind, path):
    """The flush as a pipeline of pgbench's, by any user about any thing."""
    lines = [f"\\set n random(0, {USERS - 1})", f"\\set m random(0, {THINGS - 1})",
             f"\\set viewer {first['user']} + 256 * :n",
             f"\\set thing {first['user' if kind == 'friend' else kind]} + 256 * :m"]
    if kind == "friend":
        # Not oneself.
        lines[3] = f"\\set thing {first['user']} + 256 * ((:n + 1 + :m % {USERS - 1}) % {USERS})"
    lines.append("\\set key random(0, 9000000000000000000)")
    lines.append("\\startpipeline")
    for text, values in bound:
        def value(found):
            data = values[int(found[1]) - 1]
            if data is None:
                return "NULL"
            if len(data) == 8 and struct.unpack("!q", data)[0] == viewer:
                return ":viewer"
            if len(data) == 8 and struct.unpack("!q", data)[0] == thing:
                return ":thing"
            # A request's key and hash are another each time.
            if len(data) == 32:
                return "sha256((:key)::text::bytea)"
            if re.fullmatch(rb"[A-Za-z0-9_-]{43}", data):
                return "(:key)::text"
            clean = data[1:] if data[:1] == b"\1" and data[1:2] in (b"{", b"[") else data
            try:
                text_value = clean.decode()
            except UnicodeDecodeError:
                return "'\\x" + data.hex() + "'"
            if str(thing) in text_value:
                before, after = text_value.replace("'", "''").split(str(thing), 1)
                return f"('{before}' || (:thing)::text || '{after}')"
            if all(character.isprintable() for character in text_value) and text_value:
                return "'" + text_value.replace("'", "''") + "'"
            return str(int.from_bytes(data, "big", signed=True)) if data else "''"
        lines.append(re.sub(r"\$(\d+)", value, text).replace("\n", " ") + ";")
    lines.append("\\endpipeline")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def load_of(options, work, document, things):
    """Mutations of users drawn from all, each about one of the things with these numbers."""
    return Load(
        options.program, work, document, {"id": {"$pool": "thing"}}, [f"bench-{n}" for n in range(USERS)],
        {"thing": {"values": [wire(number) for number in things]}}, timeout=20)


def run_pgbench(options, connection, script):
    output = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", f"-c{options.clients}", "-j1", f"-T{options.seconds}",
         "-f", script, connection],
        capture_output=True, text=True, env={**os.environ, "PGOPTIONS": SETTINGS})
    found = re.search(r"tps = ([\d.]+) \(without", output.stdout)
    if not found or "ERROR" in output.stderr:
        sys.exit(f"bench: pgbench failed\n{output.stdout}{output.stderr[:2000]}\n{open(script).read()}")
    return float(found.group(1))


def measure(options, server, connection, first, recorded):
    with tempfile.TemporaryDirectory() as work:
        print(f"{'mutation':<20}{'waits':>7}{'requests/s':>12}{'pgbench/s':>12}{'ratio':>8}")
        wanted = [name for name in options.operations.split(",") if name]
        for name, (field, document, kind) in MUTATIONS.items():
            if wanted and name not in wanted:
                continue
            bound, syncs, viewer, thing = recorded[name]
            script = os.path.join(work, name + ".sql")
            pgbench_script(bound, viewer, thing, first, kind, script)
            begin = first["user" if kind == "friend" else kind]
            load = load_of(
                options, os.path.join(work, name), document, range(begin, begin + 256 * THINGS, 256))
            load.run(server.url, options.clients, 1)
            rates, transactions = [], []
            for _ in range(options.rounds):
                rates.append(load.run(server.url, options.clients, options.seconds)[0])
                transactions.append(run_pgbench(options, connection, script))
            median = statistics.median
            print(f"{name + ' ' + field:<20}{syncs:>7}{median(rates):>12.0f}{median(transactions):>12.0f}"
                  f"{median(r / t for r, t in zip(rates, transactions)):>8.2f}", flush=True)
        storm(options, server, connection, first, work)


def storm(options, server, connection, first, work):
    """What 64 clients who sign in leave of Q02."""
    password = "a storm of sign-ins"
    name = f"bench_storm_{time.time_ns()}"
    server.execute(
        "mutation($i: SignUpInput!) { signUp(input: $i) { userErrors { code field } } }",
        {"i": {"username": name, "password": password, "displayName": "Bench"}})
    sql(connection, f"""INSERT INTO password (user_id, hash)
      SELECT u.id, p.hash FROM app_user u, password p JOIN app_user o ON o.id = p.user_id
      WHERE o.username = '{name}' AND u.username LIKE 'bench\\_user%'
      ON CONFLICT (user_id) DO NOTHING""")
    names = sql(connection, "SELECT u.username FROM app_user u JOIN bench.made m ON m.id = u.id AND m.kind = 'user' ORDER BY m.n LIMIT 500").splitlines()
    sign_ins = Load(
        options.program, os.path.join(work, "storm"),
        "mutation SignIn($n: String!) { signIn(username: $n, password: \"" + password
        + "\") { token userErrors { code } } }",
        {"n": {"$pool": "name"}}, pools={"name": {"values": names}}, timeout=20)
    reads = Load(
        options.program, os.path.join(work, "q02"),
        graph.document(os.path.join(graph.OPERATIONS, "Q02_Refetch")),
        {"ids": [wire(first["place"]), wire(first["outfit"]), wire(first["user"])]}, ["bench-1"])
    quiet, stormy = [], []
    reads.run(server.url, options.clients, 1)
    sign_ins.run(server.url, 64, 1)
    for _ in range(options.rounds):
        quiet.append(reads.run(server.url, options.clients, options.seconds)[0])
        beside = threading.Thread(target=lambda: sign_ins.offer(server.url, 64, options.seconds + 1, sign_ins.rate))
        beside.start()
        time.sleep(0.5)
        stormy.append(reads.run(server.url, options.clients, options.seconds)[0])
        beside.join()
    share = statistics.median(s / q for s, q in zip(stormy, quiet))
    print(f"Q02 while 64 clients sign in: {statistics.median(stormy):.0f}/s of "
          f"{statistics.median(quiet):.0f}/s, {share:.2f} (wanted 0.70)")


def main():
    parser = argparse.ArgumentParser(
        prog="script/bench --writes", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--data", default=".sociograph-bench", help="data directory of the cluster")
    parser.add_argument("--scale", type=int, default=20, help="scale of the graph (default 20)")
    parser.add_argument("--seconds", type=int, default=5, help="of each run (default 5)")
    parser.add_argument("--rounds", type=int, default=3, help="of both, alternating (default 3)")
    parser.add_argument("--clients", type=int, default=32, help="of both (default 32)")
    parser.add_argument("--port", type=int, default=18080)
    parser.add_argument("--operations", default="", help="such as M1,M3; all without it")
    options = parser.parse_args()
    if not os.path.exists(options.data):
        graph.say(f"loading a graph of scale {options.scale}")
        subprocess.run(
            [options.program, "seed", "--scale", str(options.scale), "--data", options.data],
            check=True, stdout=subprocess.DEVNULL)
    server = graph.Server(options.program, ["--data", options.data], options.port)
    try:
        connection = graph.cluster(options.data)
        first = prepare(connection)
        place = re.search(r"host=(\S+) port=(\d+)", connection)
        recorded = record(
            argparse.Namespace(**{**vars(options), "port": options.port + 1}),
            os.path.join(place[1], f".s.PGSQL.{place[2]}"), first)
        measure(options, server, connection, first, recorded)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
