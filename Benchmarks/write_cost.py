"""What writes cost PostgreSQL: the functions that mutations call, by pgbench, without a server.

Each folder of SQL (--sql, which may be given twice to compare what it was with what it is) is seeded
into a database of its own, in one cluster that is gone at the end. Where the folder has fold_counts,
it is called twice a second, as servers do. Everything is measured once for each database in turn, so
that a noisy machine disturbs all alike: compare figures of one run. So do writers on one subject and on
random ones take turns; their ratios are medians of the rounds.

WAL is what one client wrote with full_page_writes off, so that it does not depend on when a checkpoint
was; without what autovacuum writes meanwhile; with the passes, and without; and by table, with its indexes,
where "-" is what belongs to none, as commits do. Loading packs indexes full, so a few thousand rows of each
kind go before: their pages split then more often than ever after. "In place" are heap-only updates among those of the tables that count, without the tables of
ranks.

What is not within its bound (BOUNDS) is named in the end, and by the exit code.
"""

import argparse
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import threading
import time

COUNTING = "'post', 'comment', 'location', 'circle', 'product', 'app_user', 'votable_post'"

# At least so many hundredths of updates in place; at most so many bytes of a reaction's row; at least so much of
# what sixteen on random subjects do, by sixteen on one; and of what one does where a commit waits.
BOUNDS = {"in place": 99, "bytes": 1024, "bytes with ranks": 2048, "one to random": 0.7, "sixteen to one": 3}

# Somebody else each time, where nothing is taken back.
TURN = "SELECT nextval('bench_turn') % 800 AS u \\gset\n"
# A writer has people of its own; the second line takes back what the first one did.
PERSON = "\\set u :client_id * 50 + random(0, 49)\n"
VIEWER = "(SELECT id FROM bench_user WHERE n = :u)"
POST = "(SELECT id FROM bench_post WHERE n = {})"
OTHER = "(SELECT id FROM bench_user WHERE n = {})"
RANDOM = "\\set p random(0, 3000)\n"
RANDOM_PERSON = "\\set p random(850, 929)\n"


def statement(text):
    return f"SELECT {text};\n"


def operations():
    """Name: script, transactions in it; the subject is one, or a random one."""
    for name, subject, draw, other, draw_other in [
            ("one", "0", "", "850", ""), ("random", ":p", RANDOM, ":p", RANDOM_PERSON)]:
        post, person = POST.format(subject), OTHER.format(other)
        yield f"reaction, {name}", PERSON + draw + statement(
            f"react({VIEWER}, {post}, 'LIKE')") + statement(f"unreact({VIEWER}, {post}, 'LIKE')"), 2
        yield f"reaction's row, {name}", PERSON + draw + (
            "INSERT INTO reaction (subject_id, user_id, kind) "
            f"VALUES ({post}, {VIEWER}, 'TOP') ON CONFLICT DO NOTHING;\n"
            f"DELETE FROM reaction WHERE subject_id = {post} AND user_id = {VIEWER} "
            "AND kind = 'TOP';\n"), 2
        yield f"comment, {name}", PERSON + draw + statement(
            f"add_comment({VIEWER}, {post}, 'Lovely, where is this?')"), 1
        yield f"follow, {name}", PERSON + draw_other + statement(
            f"follow_users({VIEWER}, ARRAY[{person}])") + statement(
            f"unfollow_users({VIEWER}, ARRAY[{person}])"), 2
    yield "text post", PERSON + statement(
        f"create_text_post({VIEWER}, jsonb_build_object('body', 'What a week.'))"), 1
    yield "photo post", PERSON + "\\set l random(0, 99)\n" + statement(
        "create_photo_post(f.owner_id, jsonb_build_object('body', 'Golden hour.', "
        "'photoIds', jsonb_build_array(f.id), 'location', jsonb_build_object('id', "
        "(SELECT id FROM bench_place WHERE n = :l)))) FROM bench_photo f WHERE f.n = :u"), 1


def adding(script):
    """A script that takes nothing back, by somebody else each time."""
    return "\n".join(
        line for line in script.replace(PERSON, TURN).split("\n")
        if not any(word in line for word in ["unreact", "unfollow", "DELETE"]))


def say(text):
    print(f"write-cost: {text}", file=sys.stderr, flush=True)


class Cluster:
    """A PostgreSQL of this run alone."""

    def __init__(self, folder, programs):
        self.folder, self.programs = folder, programs
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            shutil.chown(folder, self.user)
        self.run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
                 f"{folder}/data")
        with open(f"{folder}/data/postgresql.conf", "a") as file:
            file.write(
                f"listen_addresses = ''\nunix_socket_directories = '{folder}'\n"
                "shared_buffers = 1GB\nmax_wal_size = 8GB\ncheckpoint_timeout = 1h\n"
                "plan_cache_mode = force_generic_plan\njit = off\nfull_page_writes = off\n")
        self.run("pg_ctl", "-D", f"{folder}/data", "-w", "-l", f"{folder}/log", "start")

    def run(self, program, *arguments, **options):
        as_root = os.getuid() == 0
        return subprocess.run(
            [f"{self.programs}/{program}", *arguments], cwd="/", text=True, capture_output=True,
            check=True, user=self.user if as_root else None, group=self.user if as_root else None,
            extra_groups=[] if as_root else None, **options).stdout

    def sql(self, database, text):
        return self.run("psql", "-h", self.folder, "-U", "postgres", "-qAtX", "-v",
                        "ON_ERROR_STOP=1", database, input=text).strip()

    def set(self, name, value):
        self.sql("postgres", f"ALTER SYSTEM SET {name} = {value}")
        self.sql("postgres", "SELECT pg_reload_conf()")

    def stop(self):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")


class Passes:
    """fold_counts, again and again, for databases that have it."""

    def __init__(self, cluster, database):
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.work, args=(cluster, database))
        self.has = cluster.sql(
            database, "SELECT count(*) FROM pg_proc WHERE proname = 'fold_counts'") == "1"

    def work(self, cluster, database):
        while not self.is_over.wait(0.5):
            cluster.sql(database, "SELECT fold_counts()")

    def __enter__(self):
        if self.has:
            self.thread.start()

    def __exit__(self, *_):
        self.is_over.set()
        if self.has:
            self.thread.join()


class Bench:
    def __init__(self, cluster, name, folder):
        self.cluster, self.database, self.folder = cluster, name, folder
        self.failed = 0

    def prepare(self, options):
        self.cluster.sql("postgres", f"CREATE DATABASE {self.database}")
        say(f"seeding scale {options.scale} by {self.folder}")
        began = time.monotonic()
        subprocess.run(
            [options.program, "seed", "--scale", str(options.scale), "--sql", self.folder,
             "--database", f"postgresql://postgres@/{self.database}?host={self.cluster.folder}"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.seeding = time.monotonic() - began
        self.cluster.sql(self.database, f"""
            ALTER DATABASE {self.database} SET search_path = graph;
            SET search_path = graph;
            CREATE TABLE bench_user AS
              SELECT row_number() OVER (ORDER BY id) - 1 AS n, id FROM app_user u
              WHERE NOT EXISTS (
                SELECT FROM block b WHERE u.id IN (b.blocker_id, b.blocked_id));
            CREATE TABLE bench_post AS
              SELECT row_number() OVER (ORDER BY hashint8(id)) - 1 AS n, id FROM post
              WHERE author_id IN (SELECT id FROM bench_user)
                AND visibility = 'PUBLIC' AND kind = 18;
            INSERT INTO bench_post SELECT m.n + 1 + b.n, b.id
              FROM (SELECT max(n) AS n FROM bench_post) m, LATERAL (
                SELECT row_number() OVER (ORDER BY hashint8(id)) - 1 AS n, id FROM post
                WHERE author_id IN (SELECT id FROM bench_user)
                AND visibility = 'PUBLIC' AND kind NOT IN (18, 22)) b;
            CREATE TABLE bench_place AS
              SELECT row_number() OVER (ORDER BY hashint8(id)) - 1 AS n, id FROM location
              WHERE level = 'PLACE';
            CREATE TABLE bench_photo AS
              SELECT row_number() OVER (ORDER BY f.id) - 1 AS n, f.id, f.owner_id
              FROM bench_user u JOIN LATERAL (
                SELECT p.id, p.owner_id FROM photo p WHERE p.owner_id = u.id
                  AND p.moderation = 'APPROVED' LIMIT 1) f ON true;
            CREATE SEQUENCE bench_turn;
            CREATE UNIQUE INDEX ON bench_user (n);
            CREATE UNIQUE INDEX ON bench_post (n);
            CREATE UNIQUE INDEX ON bench_place (n);
            CREATE UNIQUE INDEX ON bench_photo (n);
            CREATE EXTENSION pg_walinspect SCHEMA public;
            VACUUM ANALYZE;""")

    def pgbench(self, script, clients, seconds=None, transactions=None):
        """Scripts a second, or the time of a number of them."""
        path = f"{self.cluster.folder}/script.sql"
        open(path, "w").write(script)
        os.chmod(path, 0o644)
        limit = ["-t", str(transactions)] if transactions else ["-T", str(seconds)]
        out = self.cluster.run(
            "pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", "2", *limit, "-f", path,
            "-h", self.cluster.folder, "-U", "postgres", self.database)
        self.failed += int(out.split("number of failed transactions: ")[1].split()[0])
        return float(out.split("tps = ")[1].split()[0])

    def numbers(self):
        """WAL records and bytes, updates, and those in place."""
        time.sleep(1.2)  # until backends that ended have told what they did
        return [int(n) for n in self.cluster.sql(self.database, f"""
            SELECT (SELECT wal_records FROM pg_stat_wal) || ' ' ||
              (pg_current_wal_insert_lsn() - '0/0')::bigint || ' ' ||
              (SELECT sum(n_tup_upd) || ' ' || sum(n_tup_hot_upd) FROM pg_stat_user_tables
                WHERE schemaname = 'graph' AND relname IN ({COUNTING}))""").split()]

    def settle(self, options):
        """Until the pages of packed indexes have split."""
        say(f"settling {self.database}")
        for name, script, _ in operations():
            if name.endswith("random"):
                self.pgbench(adding(script), 4, transactions=2 * options.transactions)
        if Passes(self.cluster, self.database).has:
            self.cluster.sql(self.database, "SELECT fold_counts(1000000)")

    def cost(self, script, options):
        """Of doing it once, by one client: ms, WAL records, bytes, bytes with passes, in place."""
        script = adding(script)
        self.cluster.sql(self.database, "SELECT setval('bench_turn', 1)")
        done = options.transactions
        before = self.numbers()
        rate = self.pgbench(script, 1, transactions=done)
        after = self.numbers()
        records, size, updates, in_place = [b - a for a, b in zip(before, after)]
        tables = self.tables(before[1], after[1], done)
        folded = 0
        if Passes(self.cluster, self.database).has:
            self.cluster.sql(self.database, "SELECT fold_counts()")
            folded = self.numbers()[1] - after[1]
        return [1000 / rate, records / done, size / done, (size + folded) / done,
                100 * in_place / updates if updates else None], tables

    def tables(self, begin, end, done):
        """Bytes of WAL by table, each time it was done, most first."""
        rows = self.cluster.sql(self.database, f"""
            WITH record AS (
              SELECT record_length AS length,
                split_part(substring(block_ref FROM 'rel ([0-9/]+)'), '/', 3)::oid AS node
              FROM public.pg_get_wal_records_info_till_end_of_wal('0/0'::pg_lsn + {begin})
              WHERE start_lsn < '0/0'::pg_lsn + {end}),
            relation AS (
              SELECT pg_relation_filenode(c.oid) AS node, coalesce(i.indrelid, c.oid)::regclass::text AS name
              FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid)
            SELECT coalesce(l.name, '-') || ' ' || sum(r.length) / {done}
            FROM record r LEFT JOIN relation l USING (node)
            GROUP BY coalesce(l.name, '-') ORDER BY sum(r.length) DESC""")
        found = [row.split(" ") for row in rows.split("\n")]
        return [(name, round(float(size))) for name, size in found if float(size) >= 1]

    def feed(self):
        """Buffers of the first page of who follows most."""
        plan = self.cluster.sql(self.database, """
            SET plan_cache_mode = force_generic_plan;
            PREPARE page(bigint) AS SELECT * FROM feed($1, 'ALL', NULL, 21, NULL, NULL);
            SELECT id AS viewer FROM app_user ORDER BY following_count DESC, id LIMIT 1 \\gset
            EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE page(:viewer);
            EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE page(:viewer);""")
        line = [l for l in plan.split("\n") if l.strip().startswith("Buffers: shared")]
        line = line[len(line) // 2]
        return sum(int(part.split("=")[1]) for part in line.split() if part[:3] in ("hit", "rea"))

    def wrong(self):
        return self.cluster.sql(self.database, "SELECT count(*) FROM verify_counters()")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=".build/release/sociograph")
    parser.add_argument("--sql", action="append", help="folder of SQL (default: sql)")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=4, help="of a round (default: 4)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--transactions", type=int, default=800, help="whose WAL is counted")
    parser.add_argument("--postgres-programs", default="/usr/lib/postgresql/15/bin")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    folders = [os.path.abspath(folder) for folder in options.sql or ["sql"]]
    work = tempfile.mkdtemp(prefix="write-cost-", dir="/var/tmp")
    cluster = Cluster(work, options.postgres_programs)
    try:
        benches = [Bench(cluster, f"graph{i}", folder) for i, folder in enumerate(folders)]
        for bench in benches:
            bench.prepare(options)
            print(f"{bench.database}: {bench.folder}, seeded in {bench.seeding:.0f} s")
        wrong = measure(options, cluster, benches)
    finally:
        cluster.stop()
        shutil.rmtree(work)
    sys.exit(1 if wrong else 0)


def median(values):
    return sorted(values)[len(values) // 2]


def measure(options, cluster, benches):
    """Prints all figures, and gives what is not within its bound."""
    wrong, scripts, tables = [], {}, []
    for bench in benches:
        bench.settle(options)
    cluster.set("autovacuum", "off")
    heads = ["ms", "records", "WAL bytes", "with ranks", "in place %"]
    print(f"\n{'one client':<24}{'':>8}" + "".join(f"{head:>12}" for head in heads))
    for name, script, number in operations():
        scripts[name] = script, number
        for bench in benches:
            say(f"{name}: {bench.database}")
            values, found = bench.cost(script, options)
            tables.append((name, bench, found))
            print(f"{name:<24}{bench.database:>8}" + "".join(
                f"{'' if value is None else format(value, '.2f'):>12}" for value in values), flush=True)
            if bench is not benches[-1]:
                continue
            if values[4] is not None and values[4] < BOUNDS["in place"]:
                wrong.append(f"{name}: {values[4]:.1f} % of updates are in place")
            if "row" in name:
                wrong += [f"{name}: {values[place]:.0f} {what}" for place, what in
                          ((2, "bytes"), (3, "bytes with ranks")) if values[place] > BOUNDS[what]]
    cluster.set("autovacuum", "on")
    print("\nWAL bytes by table")
    for name, bench, found in tables:
        print(f"{name:<24}{bench.database:>8}   " + ", ".join(f"{table} {size}" for table, size in found))
    heads = ["1", "16", "16 random", "ratio", "slow 1", "slow 16", "slow random", "ratio", "16 to 1"]
    print(f"\n{'a second, writers':<24}{'':>8}" + "".join(f"{head:>12}" for head in heads))
    for name in dict.fromkeys(name.split(",")[0] for name in scripts if "," in name):
        rates = [[] for _ in benches]
        for _ in range(options.rounds):
            taken = [[] for _ in benches]
            for delay in (0, 1000) if "row" in name else (0,):
                cluster.set("commit_delay", delay)
                cluster.set("commit_siblings", 0 if delay else 5)
                for clients, subject in ((1, "one"), (16, "one"), (16, "random")):
                    for bench, found in zip(benches, taken):
                        script, number = scripts[f"{name}, {subject}"]
                        with Passes(cluster, bench.database):
                            found.append(number * bench.pgbench(script, clients, seconds=options.seconds))
            for found, all_rounds in zip(taken, rates):
                found += [0] * (6 - len(found))
                all_rounds.append([
                    *found[:3], found[1] / found[2], *found[3:],
                    found[4] / found[5] if found[5] else 0, found[4] / found[3] if found[3] else 0])
        for bench, found in zip(benches, rates):
            values = [median(column) for column in zip(*found)]
            print(f"{name:<24}{bench.database:>8}" + "".join(
                f"{format(value, '.2f' if place in (3, 7, 8) else '.0f') if value else '':>12}"
                for place, value in enumerate(values)), flush=True)
            if bench is not benches[-1]:
                continue
            if values[3] < BOUNDS["one to random"]:
                wrong.append(f"{name}: sixteen on one subject do {values[3]:.2f} of those on random ones")
            if values[8] and values[8] < BOUNDS["sixteen to one"]:
                wrong.append(f"{name}: sixteen do {values[8]:.2f} of what one does where a commit waits")
    cluster.sql("postgres", "ALTER SYSTEM RESET ALL")
    cluster.sql("postgres", "SELECT pg_reload_conf()")
    print(f"\n{'buffers of a feed':<32}" + "".join(
        f"{head:>24}" for head in ["vacuumed", "after 10,000 reactions", "a minute later"]))
    for bench in benches:
        cluster.sql(bench.database, "VACUUM")
        figures = [bench.feed()]
        script = next(s for n, s, _ in operations() if n == "reaction's row, random")
        with Passes(cluster, bench.database):
            bench.pgbench(script, 4, transactions=1250)
        figures.append(bench.feed())
        time.sleep(75)
        figures.append(bench.feed())
        print(f"{'':<24}{bench.database:>8}" + "".join(f"{figure:>24}" for figure in figures),
              flush=True)
    for bench in benches:
        number = bench.wrong()
        print(f"{bench.database}: {number} counts that are not what they count")
        if number != "0":
            wrong.append(f"{bench.database}: {number} counts are wrong")
        if bench.failed:
            wrong.append(f"{bench.database}: {bench.failed} transactions failed")
    print("\n".join(wrong) if wrong else "all within their bounds")
    return wrong


if __name__ == "__main__":
    main()
