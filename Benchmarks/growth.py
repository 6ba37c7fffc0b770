"""What a page costs as the graph grows: buffers that PostgreSQL looks at, at several scales.

Documents are made from the schema: every connection, of the root, of the viewer and of the node of
its type that has most, in every order and under every filter and pair of filters; the first page, a
page after many rows, both from either end where a connection has two, and totalCount. A server runs
them, with the statements and generic plans it always has; what each read is PostgreSQL's own count
(shared_blks_hit + shared_blks_read of pg_stat_statements), which does not depend on how busy the
machine is, of the second time it was run.

They are run for two viewers, somebody who follows few people (some) and who follows most (most). A
page may read 3 times what it does at the first scale, or 40 buffers a row, whichever is more; a count a
page's worth for each hundred. What must read more has a law and a cap (LAWS, below). What is above its bound
is printed, dearest first, and what needs its law behind it; the exit code says whether anything is above.
"""

import argparse
import glob
import hashlib
import http.client
import itertools
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import threading
import time
import typing

from graph import Server

PAGE = 20
BUFFERS_A_ROW = 40


class Law(typing.NamedTuple):
    """What pages may read besides a page's worth: so many buffers for each of something, up to a cap."""

    # Of the documents, by their names and parts; each time it is found counts, and several laws add up.
    pattern: str
    buffers: float
    # Of what there are so many, and the SQL that counts it for a viewer.
    each: str
    sql: str
    # Of these, at any scale.
    cap: int
    why: str


FOLLOWED = "SELECT count(*) FROM follow WHERE follower_id = {viewer}"
NAMES = """SELECT split_part(name_key, ' ', 1) FROM app_user GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"""
PLACE_NAMES = NAMES.replace("app_user", "location")
LAWS = [
    Law(r"^viewer\.(feed|reactedFeed)", 4, "person followed", FOLLOWED, 20_000,
        "merges the newest of everybody followed, by index"),
    Law(r"FOLLOWING|FRIENDS_OF_FRIENDS|isRecommended|knownFollowers", 4, "person followed", FOLLOWED, 20_000,
        "makes a part of the network from everybody followed, each time it is named, and probes it"),
    Law(r"^viewer\.agenda|^circles\(.*(GROUP|search)", 4, "circle joined",
        "SELECT count(*) FROM circle_member WHERE user_id = {viewer}", 4_000,
        "merges what the viewer's circles have, or finds these among all"),
    Law(r"toppedBy: FOLLOWING", 6, "place topped by people followed", """
        SELECT count(DISTINCT r.subject_id) FROM follow f JOIN reaction r ON r.user_id = f.followee_id
        WHERE f.follower_id = {viewer} AND r.kind = 'TOP' AND r.subject_id & 255 = 3""", 10_000,
        "gathers these places, and reads each to ask for what else must hold"),
    Law(r"^(?=locations\()(?!.*COUNTRY)(?=.*(near|within))(?=.*(search|isRecommended))", 8, "place of the city", """
        SELECT count(*) FROM location GROUP BY parent_id ORDER BY max(level) DESC, 1 DESC LIMIT 1""", 10_000,
        "asks all places there are in the city or the circle for a word or for who topped them"),
    Law(r"^locations\(.*(isRecommended|minReviews).*search", 8, "place with a common word in its name", f"""
        SELECT count(*) FROM location
        WHERE name_vector(name_key) @@ prefix_query(({PLACE_NAMES}))""", 15_000,
        "asks all of them for their reviews, or who topped them"),
    Law(r"^locations\(.*COUNTRY", 4, "country, region and city", """
        SELECT count(*) FROM location WHERE level <> 'PLACE'""", 1_000,
        "finds that there is none: no page of places reads so little as 40 buffers"),
    Law(r"^users\(.*search: a common word", 1, "person of the most common first name", f"""
        SELECT count(*) FROM app_user
        WHERE name_vector(name_key || ' ' || username) @@ prefix_query(({NAMES}))""", 4_000,
        "finds them all by their words, and sorts them"),
    Law(r"^search\(query: a common word", 2_000, "page", "SELECT 1", 2_000,
        "ranks what has the word, the newest 500 names and 2,000 texts of each type"),
    Law(r"^viewer\.notifications\(reasons", 1, "notification of the viewer",
        "SELECT count(*) FROM notification WHERE recipient_id = {viewer}", 2_000,
        "walks the viewer's notifications until so many have the reason"),
    Law(r"^posts\(.*(isOpen|sendsToId)", 2_000, "page", "SELECT 1", 2_000,
        "walks the order until so many fit: as far as their share says, however many there are"),
    Law(r"followers\(.*search", 0.02, "follower", "SELECT max(follower_count) FROM app_user", 20_000,
        "looks for a name in the index of one list, 50 or more entries to a buffer"),
    Law(r"members\(search", 0.02, "member", "SELECT max(member_count) FROM circle", 20_000,
        "looks for a name in the index of one list, 50 or more entries to a buffer"),
]

# Where the fields of a type are read: what stands before and behind them, and whose node it is.
SUBJECTS = {
    "Query": [("", "", "", None)],
    "Viewer": [("viewer", "viewer {", "}", None)],
    "User": [
        ("most followed", "node(id: $id) { ... on User {", "}}",
         "SELECT id FROM app_user ORDER BY follower_count DESC, id LIMIT 1"),
        ("prolific", "node(id: $id) { ... on User {", "}}",
         "SELECT author_id FROM post GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1")],
    "Location": [("popular", "node(id: $id) { ... on Location {", "}}",
                  "SELECT id FROM location WHERE level = 'PLACE' ORDER BY popularity DESC LIMIT 1")],
    "Product": [("popular", "node(id: $id) { ... on Product {", "}}",
                 "SELECT id FROM product ORDER BY heart_count DESC LIMIT 1")],
    "Circle": [("largest", "node(id: $id) { ... on Circle {", "}}",
                "SELECT id FROM circle WHERE kind = 'CHANNEL' ORDER BY member_count DESC LIMIT 1")],
    "Post": [("popular", "node(id: $id) { ... on Post {", "}}",
              "SELECT id FROM post WHERE visibility = 'PUBLIC' ORDER BY score DESC LIMIT 1")],
    "Event": [("popular", "node(id: $id) { ... on Event {", "}}",
               "SELECT event_id FROM attendance JOIN post ON id = event_id "
               "WHERE visibility = 'PUBLIC' GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")],
    "Comment": [("popular", "node(id: $id) { ... on Comment {", "}}",
                 "SELECT id FROM comment WHERE subject_id & 255 = 3 "
                 "ORDER BY agree_count DESC LIMIT 1")],
    "TrainerProfile": [(
        "busy", "node(id: $id) { ... on User { trainerProfile {", "}}}",
        "SELECT trainer_id FROM class_session GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")],
    "Program": [("busy", "node(id: $id) { ... on Program {", "}}",
                 "SELECT program_id FROM class_session GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")],
}

WEEK = ("-2", "5")
YEAR = ("-180", "185")

# Values of arguments and input fields, by name; a text is asked of the database.
ID_VALUES = {
    "withinId": [
        ("a city", "SELECT l.parent_id FROM location l JOIN location c ON c.id = l.parent_id "
         "WHERE c.level = 'CITY' GROUP BY 1 ORDER BY sum(l.post_count) DESC LIMIT 1"),
        ("a country", "SELECT l.ancestor_ids[1] FROM location l WHERE l.parent_id IS NOT NULL "
         "GROUP BY 1 ORDER BY sum(l.post_count) DESC LIMIT 1")],
    "sendsToId": [("a city", "SELECT id FROM location WHERE level = 'CITY' ORDER BY id LIMIT 1")],
    "programId": [("the busy one", SUBJECTS["Program"][0][3])],
    "eventId": [("the popular one", SUBJECTS["Event"][0][3])],
    "trainerId": [("the busy one", SUBJECTS["TrainerProfile"][0][3])],
    "circleIds": [("the largest", SUBJECTS["Circle"][0][3])],
}
WORDS = """SELECT word FROM ts_stat('SELECT search FROM graph.post ORDER BY id LIMIT 10000')
  ORDER BY ndoc DESC, word LIMIT 1"""
ABSENT = ("an absent word", "zzyzx")
SEARCHES = {
    "PostFilter.search": WORDS, "Query.search": WORDS,
    "Query.products": "SELECT split_part(lower(name), ' ', 1) FROM product GROUP BY 1 "
                      "ORDER BY count(*) DESC, 1 LIMIT 1",
    "Query.circles": "SELECT split_part(lower(name), ' ', 1) FROM circle GROUP BY 1 "
                     "ORDER BY count(*) DESC, 1 LIMIT 1",
    "LocationFilter.search": PLACE_NAMES,
}
RETAILER = "SELECT retailer FROM product GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
CENTRE = """SELECT latitude || ' ' || longitude FROM location WHERE level = 'PLACE'
  ORDER BY popularity DESC, id DESC LIMIT 1"""
VIEWERS = {
    "some": "SELECT id FROM app_user ORDER BY abs(following_count - 43), id LIMIT 1",
    "most": "SELECT id FROM app_user ORDER BY following_count DESC, id LIMIT 1",
}
INSTANT = """SELECT to_char((date_trunc('day', now()) + interval '1 day' * {}) AT TIME ZONE 'UTC',
  'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""


def say(text):
    print(f"growth: {text}", file=sys.stderr, flush=True)


class Progress:
    """A bar on a terminal, and nothing elsewhere."""

    def __init__(self, title, total):
        self.title, self.total, self.done = title, max(total, 1), 0
        self.is_shown = sys.stderr.isatty()

    def advance(self, what=""):
        self.done += 1
        if self.is_shown:
            filled = 30 * self.done // self.total
            print(f"\r{self.title} [{'#' * filled}{'.' * (30 - filled)}] {self.done}/{self.total} "
                  f"{what[:48]:<48}", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.is_shown:
            print(file=sys.stderr)


class Cluster:
    """A PostgreSQL of its own on a Unix socket, kept between runs, with a database for each scale."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if not os.path.exists(f"{self.folder}/data/PG_VERSION"):
            os.makedirs(self.folder, exist_ok=True)
            if os.getuid() == 0:
                shutil.chown(self.folder, self.user, self.user)
            self.run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C.UTF-8",
                     "-N", f"{self.folder}/data")
        self.run(
            "pg_ctl", "start", "-w", "-t", "60", "-D", f"{self.folder}/data",
            "-l", f"{self.folder}/log",
            "-o", f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off "
            "-c autovacuum=off -c shared_buffers=1GB -c max_wal_size=4GB "
            "-c shared_preload_libraries=pg_stat_statements -c pg_stat_statements.track=top")

    def run(self, name, *arguments):
        subprocess.run(
            [f"{self.programs}/{name}", *arguments], check=True, stdout=subprocess.DEVNULL,
            cwd="/", user=self.user if os.getuid() == 0 else None,
            group=self.user if os.getuid() == 0 else None,
            extra_groups=[] if os.getuid() == 0 else None)

    def url(self, scale):
        return f"postgresql://postgres@/scale_{scale}?host={self.folder}"

    def seed(self, options, scale):
        """Under another name until all rows are there, so that one cut short is begun again."""
        tables = state_of_tables(options.sql)
        session = Session(self.url(scale).replace(f"scale_{scale}", "postgres"))
        known = session.rows(
            "SELECT coalesce(shobj_description(oid, 'pg_database'), '') FROM pg_database "
            f"WHERE datname = 'scale_{scale}'")
        figures = None
        if not known or known[0] != tables and not options.keep:
            for name in ("scale", "growing"):
                session.rows(f"DROP DATABASE IF EXISTS {name}_{scale}")
            session.rows(f"CREATE DATABASE growing_{scale}")
            say(f"loading a graph of scale {scale}")
            figures = self.load(options, scale)
            session.rows(f"ALTER DATABASE growing_{scale} RENAME TO scale_{scale}")
            session.rows(f"COMMENT ON DATABASE scale_{scale} IS '{tables}'")
        session.end()
        return figures

    def load(self, options, scale):
        """How many rows, in which time, and the memory of its own that each process had at most."""
        url = self.url(scale).replace("scale_", "growing_")
        began = time.monotonic()
        process = subprocess.Popen(
            [options.program, "seed", "--scale", str(scale), "--sql", options.sql, "--database", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{self.folder}/data/postmaster.pid") as file:
            postmaster = int(file.readline())
        own = backend = 0
        while process.poll() is None:
            own = max(own, megabytes(process.pid, "VmRSS"))
            backend = max([backend, *(
                megabytes(child) for child in children(postmaster)
                if f"growing_{scale}" in title(child))])
            time.sleep(0.1)
        took = time.monotonic() - began
        if process.returncode:
            sys.exit(f"growth: a graph of scale {scale} could not be loaded")
        session = Session(url)
        rows = sum(int(session.value(f"SELECT count(*) FROM {table}")) for table in session.rows(
            "SELECT format('%I.%I', schemaname, relname) FROM pg_stat_user_tables "
            "WHERE schemaname = 'graph'"))
        session.end()
        return rows, took, own, backend

    def stop(self):
        self.run("pg_ctl", "stop", "-w", "-m", "fast", "-D", f"{self.folder}/data")


def state_of_tables(folder):
    """Of what graphs were made from; another one means that they have to be made anew."""
    state = hashlib.sha256()
    for path in sorted(glob.glob(f"{folder}/tables/*.sql") + glob.glob(f"{folder}/demo/*.sql")):
        with open(path, "rb") as file:
            state.update(file.read())
    return state.hexdigest()[:16]


def children(parent):
    with open(f"/proc/{parent}/task/{parent}/children") as file:
        return [int(word) for word in file.read().split()]


def title(process):
    try:
        with open(f"/proc/{process}/cmdline") as file:
            return file.read()
    except OSError:
        return ""


def megabytes(process, kind="RssAnon"):
    """Memory that is not shared, as PostgreSQL's buffers are; or of another kind."""
    try:
        with open(f"/proc/{process}/status") as file:
            found = re.search(rf"{kind}:\s+(\d+)", file.read())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0


class Session:
    """A psql that stays."""

    def __init__(self, url):
        self.process = subprocess.Popen(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", url], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, bufsize=1)
        self.rows("SET search_path = graph, public")

    def rows(self, statement):
        self.process.stdin.write(f"{statement};\n\\echo --end--\n")
        self.process.stdin.flush()
        rows = []
        for line in self.process.stdout:
            if line.strip() == "--end--":
                return rows
            rows.append(line.rstrip("\n"))
        sys.exit(f"growth: this could not be asked: {statement}")

    def value(self, statement):
        rows = self.rows(statement)
        return rows[0] if rows else None

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def wire_id(number):
    return f"SELECT wire_id(({number})::bigint)"


# MARK: - Documents


def named(reference):
    while reference.get("ofType"):
        reference = reference["ofType"]
    return reference["name"]


def is_list(reference):
    while reference:
        if reference["kind"] == "LIST":
            return True
        reference = reference.get("ofType")
    return False


class Documents:
    """Every connection of the schema with every order, filter and pair of filters.

    A variant is a name and the arguments as pairs of a path and a literal; what depends on the graph
    stands in braces, as {sql}.
    """

    def __init__(self, schema):
        self.types = {type["name"]: type for type in schema["types"]}

    def all(self):
        for type_name, subjects in SUBJECTS.items():
            for field in self.types[type_name]["fields"]:
                if not named(field["type"]).endswith("Connection"):
                    continue
                if type_name == "Event" and self.is_of_post(field["name"]):
                    continue
                for subject in subjects:
                    yield from self.of_field(type_name, field, subject)

    def is_of_post(self, name):
        return any(field["name"] == name for field in self.types["Post"]["fields"])

    def of_field(self, type_name, field, subject):
        orders, filters, required = [None], [], []
        for argument in field["args"]:
            self.sort(type_name, field, argument, (argument["name"],), orders, filters, required)
        orders = orders[1:] or [None]
        ends = {argument["name"] for argument in field["args"]}
        connection = self.types[named(field["type"])]
        node = next(f for f in self.types[self.edge(connection)]["fields"] if f["name"] == "node")
        is_node = any(i["name"] == "Node" for i in self.types[named(node["type"])]["interfaces"] or [])
        selection = "id" if is_node or named(node["type"]) == "Node" else "__typename"
        if self.types[named(node["type"])]["kind"] == "UNION":
            selection = "... on Node { id }"
        for base in itertools.product(*required) if required else [()]:
            for order in orders:
                for choice in self.choices(filters):
                    chosen = [*base, *([order] if order else []), *choice]
                    if any(c[1] == "NEAREST" for c in chosen) and not any(
                            c[0][-1] == "near" for c in chosen):
                        continue
                    yield {
                        "name": self.title(type_name, field, subject, chosen),
                        "before": subject[1], "behind": subject[2], "subject": subject[3],
                        "field": field["name"], "arguments": [(c[0], c[1]) for c in chosen],
                        "selection": selection, "is_pair": len(choice) > 1,
                        "is_two_ended": "last" in ends, "is_paged": "after" in ends,
                        "has_count": any(f["name"] == "totalCount" for f in connection["fields"]),
                    }

    def edge(self, connection):
        return named(next(f for f in connection["fields"] if f["name"] == "edges")["type"])

    def title(self, type_name, field, subject, chosen):
        place = "" if type_name == "Query" else "viewer." if type_name == "Viewer" else \
            f"{type_name} ({subject[0]})."
        inside = ", ".join(f"{c[0][-1]}: {c[2]}" for c in chosen)
        return f"{place}{field['name']}({inside})" if inside else f"{place}{field['name']}"

    def choices(self, filters):
        """None, each value of each filter, and the first values of each two of them."""
        yield ()
        for values in filters:
            for value in values:
                yield (value,)
        for one, other in itertools.combinations(filters, 2):
            yield (one[0], other[0])

    def sort(self, type_name, field, argument, path, orders, filters, required):
        name, type = argument["name"], self.types[named(argument["type"])]
        if name in ("first", "after", "last", "before", "limit", "seed"):
            return
        is_required = argument["type"]["kind"] == "NON_NULL" and argument["defaultValue"] is None
        if type["kind"] == "ENUM" and type["name"].endswith("Order"):
            orders += [(path, v["name"], v["name"]) for v in type["enumValues"]]
            return
        if type["kind"] == "INPUT_OBJECT" and type["name"] != "RadiusInput":
            inner = type["inputFields"]
            if {"from", "to"} <= {f["name"] for f in inner}:
                required.append(self.spans(path))
            for member in inner:
                if member["name"] not in ("from", "to"):
                    self.sort(type["name"], member, member, (*path, member["name"]), orders, filters,
                              required)
            return
        if name in ("from", "to"):
            if is_required and name == "from":
                required.append(self.spans(path[:-1]))
            elif not is_required:
                filters.append([(path, f'"{{{INSTANT.format(WEEK[0])}}}"', "this week")])
            return
        values = self.values(type_name, field, argument, path, type)
        if is_required:
            required.append(values)
        elif values:
            filters.append(values)

    def spans(self, path):
        return [(
            (*path, "from ... to"),
            f'from: "{{{INSTANT.format(span[0])}}}", to: "{{{INSTANT.format(span[1])}}}"', title)
            for span, title in ((WEEK, "a week"), (YEAR, "a year"))]

    def values(self, type_name, field, argument, path, type):
        name, many = argument["name"], is_list(argument["type"])
        wrapped = (lambda text: f"[{text}]") if many else (lambda text: text)
        if type["kind"] == "ENUM":
            return [(path, wrapped(v["name"]), v["name"]) for v in type["enumValues"]
                    if v["name"] != argument["defaultValue"] and v["name"] != "EVERYONE"]
        if type["name"] == "Boolean":
            return [(path, text, text) for text in ("true", "false")
                    if text != argument["defaultValue"]]
        if type["name"] == "ID":
            return [(path, wrapped(f'"{{{wire_id(sql)}}}"'), title) for title, sql in ID_VALUES[name]]
        if type["name"] == "Int":
            return [(path, "5", "5")]
        if type["name"] == "RadiusInput":
            return [(path, f"{{center: {{{CENTRE}}}, radiusMeters: {radius}}}", f"{radius // 1000} km")
                    for radius in (25_000, 500_000)]
        if name == "retailer":
            return [(path, f'"{{{RETAILER}}}"', "the largest")]
        if name in ("search", "query"):
            sql = SEARCHES.get(f"{type_name}.{field['name']}", NAMES)
            return [(path, f'"{{{sql}}}"', "a common word"), (path, f'"{ABSENT[1]}"', ABSENT[0])]
        sys.exit(f"growth: no value is known for {type_name}.{field['name']}({name}:)")


class Graph:
    """A database of some scale behind a server."""

    def __init__(self, options, cluster, scale):
        self.scale = scale
        self.session = Session(cluster.url(scale))
        self.session.rows("SET client_min_messages = error")
        self.session.rows("CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public")
        self.answers = {}
        self.viewers = {name: self.session.value(sql) for name, sql in VIEWERS.items()}
        for name, viewer in self.viewers.items():
            token = hashlib.sha256(f"growth-{name}".encode()).hexdigest()
            self.session.rows(
                "INSERT INTO session (token_hash, user_id, device, expires_at) VALUES "
                f"('\\x{token}', {viewer}, 'growth', now() + interval '1 day') "
                "ON CONFLICT (token_hash) DO UPDATE SET expires_at = excluded.expires_at")
        self.server = Server(
            options.program, [
                "--database", cluster.url(scale), "--schema", options.schema, "--sql", options.sql,
                "--statement-timeout", "600s",
                "--operation-timeout", "600s", "--loops", "1", "--slow-operation", "off",
                "--shutdown-delay", "0s"], options.port)
        self.http = http.client.HTTPConnection("127.0.0.1", options.port, timeout=700)

    def ask(self, sql):
        if sql not in self.answers:
            self.answers[sql] = self.session.value(sql)
        return self.answers[sql]

    def text(self, document):
        """The field with its arguments, what stands in braces asked of this graph."""
        def filled(literal):
            literal = literal.replace(f"{{{CENTRE}}}", "CENTRE")
            literal = re.sub(
                r"\{(SELECT.*?)\}(?=\"|$)", lambda found: str(self.ask(found[1])), literal, flags=re.S)
            if "CENTRE" in literal:
                latitude, longitude = self.ask(CENTRE).split()
                literal = literal.replace(
                    "CENTRE", f"{{latitude: {latitude}, longitude: {longitude}}}")
            return literal

        tree = {}
        for path, literal in document["arguments"]:
            place = tree
            for step in path[:-1]:
                place = place.setdefault(step, {})
            place[path[-1]] = filled(literal)

        def written(tree):
            return ", ".join(
                value if name == "from ... to" else f"{name}: {{{written(value)}}}"
                if isinstance(value, dict) else f"{name}: {value}" for name, value in tree.items())
        return written(tree)

    def execute(self, query, variables, viewer):
        body = json.dumps({"query": query, "variables": variables})
        self.http.request("POST", "/graphql", body, {
            "Content-Type": "application/json", "Authorization": f"Bearer growth-{viewer}"})
        answer = json.loads(self.http.getresponse().read())
        if "errors" in answer:
            sys.exit(f"growth: {answer['errors']}\n{query}\n{variables}")
        return answer["data"]

    def measured(self, document, part, viewer, cursor=None):
        """The buffers that one execution reads, and the connection."""
        query, variables = self.query(document, part), self.variables(document, cursor)
        self.execute(query, variables, viewer)
        self.session.rows(
            "SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE datname = current_database()")
        answer = self.execute(query, variables, viewer)
        buffers = self.session.value(
            "SELECT coalesce(sum(shared_blks_hit + shared_blks_read), 0) FROM pg_stat_statements "
            "WHERE query LIKE '/*action=''Growth''%' AND dbid = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())")
        return int(buffers), self.connection(document, answer)

    def connection(self, document, answer):
        for name in [w for w in re.split(r"\W+", document["before"]) if w in (
                "node", "viewer", "trainerProfile")]:
            answer = (answer or {}).get(name)
        return (answer or {}).get(document["field"])

    def variables(self, document, cursor):
        variables = {}
        if document["subject"]:
            variables["id"] = self.ask(wire_id(document["subject"]))
        if cursor:
            variables["cursor"] = cursor
        return variables

    def query(self, document, part):
        arguments = self.text(document)
        end, size = ("last", "before") if part == "backward" else ("first", "after"), PAGE
        if part == "walk":
            size = 100
        nodes = f"nodes {{ {document['selection']} }}"
        selection = {
            "count": "totalCount",
            "walk": "pageInfo { endCursor hasNextPage }",
            "backward": f"{nodes} pageInfo {{ startCursor hasPreviousPage }}",
        }.get(part, f"{nodes} pageInfo {{ endCursor hasNextPage }}")
        if part != "count":
            pieces = [arguments, f"{end[0]}: {size}"]
            if document["is_paged"]:
                pieces.append(f"{end[1]}: $cursor")
            arguments = ", ".join(piece for piece in pieces if piece)
        declared = ["$id: ID!"] if document["subject"] else []
        if part != "count" and document["is_paged"]:
            declared.append("$cursor: String")
        head = f"query Growth({', '.join(declared)})" if declared else "query Growth"
        field = document["field"] + (f"({arguments})" if arguments else "")
        return f"{head} {{ {document['before']} {field} {{ {selection} }} {document['behind']} }}"

    def end(self):
        self.server.stop()
        self.session.end()


def measure(graph, documents, options):
    """Buffers, rows and what the rows are, by (document, viewer, part)."""
    found = {}

    def note(key, buffers, page):
        nodes = (page or {}).get("nodes", [])
        found[key] = buffers, len(nodes), hashlib.sha256(json.dumps(nodes).encode()).hexdigest()[:12]

    progress = Progress(f"scale {graph.scale}", len(documents) * len(graph.viewers))
    for viewer in graph.viewers:
        for document in documents:
            progress.advance(document["name"])
            key = (document["name"], viewer)
            buffers, page = graph.measured(document, "forward", viewer)
            note((*key, "first page"), buffers, page)
            if document["is_pair"]:
                continue
            if document["has_count"]:
                buffers, answer = graph.measured(document, "count", viewer)
                found[(*key, "totalCount")] = buffers, (answer or {}).get("totalCount", 0), ""
            if document["is_two_ended"]:
                buffers, page = graph.measured(document, "backward", viewer)
                note((*key, "last page"), buffers, page)
            if not document["is_paged"]:
                continue
            cursor, walk = None, graph.query(document, "walk")
            for _ in range(options.late // 100):
                page = graph.connection(document, graph.execute(
                    walk, graph.variables(document, cursor), viewer))
                cursor = (page or {}).get("pageInfo", {}).get("endCursor")
                if not page or not page["pageInfo"]["hasNextPage"]:
                    cursor = None
                    break
            if cursor:
                buffers, page = graph.measured(document, "forward", viewer, cursor)
                note((*key, "late page"), buffers, page)
    progress.end()
    return found


def bounds(key, scales, found, laws):
    """How much the last scale may read: for what it gives, and, by which law above all, how much more."""
    name, viewer, part = key
    rows = found[scales[-1]][key][1]
    if part == "totalCount":
        page = plain = BUFFERS_A_ROW * PAGE * -(-max(rows, 1) // 100)
    else:
        first = found[scales[0]].get(key) or found[scales[0]].get((name, viewer, "first page")) or (0, 0)
        page = BUFFERS_A_ROW * PAGE
        plain = max(3 * first[0], BUFFERS_A_ROW * max(rows, 1))
    shares = {law: min(laws[law, viewer] * len(re.findall(law.pattern, f"{name} {part}")), law.cap)
              for law in LAWS}
    law = max(LAWS, key=shares.get)
    more = max(plain, page + sum(shares.values())) if shares[law] else plain
    return plain, law, more


def main():
    parser = argparse.ArgumentParser(prog="script/growth", description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=".build/release/sociograph", help=argparse.SUPPRESS)
    parser.add_argument("--schema", default="Schema", help=argparse.SUPPRESS)
    parser.add_argument("--sql", default="sql", help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true",
                        help="take the graphs that are there, although sql/tables or sql/demo changed since")
    parser.add_argument("--data", default="/var/tmp/sociograph-growth",
                        help="folder of the cluster, kept between runs (default %(default)s)")
    parser.add_argument("--scales", default="1,10,60", help="(default %(default)s)")
    parser.add_argument("--late", type=int, default=2000,
                        help="a late page is behind so many rows (default %(default)s)")
    parser.add_argument("--only", default="", help="documents whose name this pattern finds")
    parser.add_argument("--limit", type=int, default=60, help="lines of the table (default 60)")
    parser.add_argument("--all", action="store_true", help="what is within its bounds, too")
    parser.add_argument("--json", help="file for all that was measured")
    parser.add_argument("--same-as", help="such a file of another program; says which pages differ")
    parser.add_argument("--port", type=int, default=18082)
    options = parser.parse_args()
    scales = [int(scale) for scale in options.scales.split(",")]

    cluster = Cluster(options.data)
    seeded, found, laws = {}, {}, {}
    try:
        for scale in scales:
            seeded[scale] = cluster.seed(options, scale)
            graph = Graph(options, cluster, scale)
            try:
                schema = graph.execute(INTROSPECTION, {}, "some")["__schema"]
                documents = [d for d in Documents(schema).all() if re.search(options.only, d["name"])]
                found[scale] = measure(graph, documents, options)
                laws = {(law, viewer): int(law.buffers * int(
                    graph.session.value(law.sql.format(viewer=number))))
                    for law in LAWS for viewer, number in graph.viewers.items()}
            finally:
                graph.end()
    finally:
        cluster.stop()
    if options.json:
        with open(options.json, "w") as file:
            json.dump({str(scale): [[*key, *value] for key, value in measures.items()]
                       for scale, measures in found.items()}, file)
    for scale in scales:
        if seeded[scale]:
            rows, took, own, backend = seeded[scale]
            print(f"scale {scale}: {rows} rows loaded in {took:.0f} s, {rows / took:.0f} a second; "
                  f"{own:.0f} MB of the program, {backend:.0f} MB of a backend at most")
    different = compare(options.same_as, found) if options.same_as else 0
    sys.exit(1 if report(options, scales, found, laws) + different else 0)


def compare(path, found):
    """How many pages and counts another program, on the same graphs, gave other rows for."""
    different, same = [], 0
    for scale, measures in json.load(open(path)).items():
        for *key, _, rows, digest in measures:
            other = found.get(int(scale), {}).get(tuple(key))
            if other and other[1:] == (rows, digest):
                same += 1
            elif other:
                different.append(f"scale {scale}: {', '.join(key)}: {rows} rows, now {other[1]}")
    print(f"{same} pages and counts have the same rows as in {path}, {len(different)} have others")
    print("\n".join(different[:40]))
    return len(different)


def report(options, scales, found, laws):
    """Prints what grows, and says how many pages and counts are over their bound."""
    last = found[scales[-1]]
    bound = {key: bounds(key, scales, found, laws) for key in last}
    over = [key for key in last if last[key][0] > bound[key][2]]
    by_law = [key for key in last if bound[key][0] < last[key][0] <= bound[key][2]]
    print(f"{len(last)} pages and counts, {len(over)} of them over their bound, {len(by_law)} within a law")

    def lines(keys):
        keys.sort(key=lambda key: (-last[key][0] / bound[key][2], key))
        if keys:
            print(f"{'operation':<72}{'viewer':<8}{'part':<12}"
                  + "".join(f"{f's{scale}':>10}" for scale in scales) + f"{'rows':>9}{'bound':>9}")
        for key in keys[:options.limit]:
            cells = "".join(f"{found[scale].get(key, ('–',))[0]:>10}" for scale in scales)
            print(f"{key[0][:71]:<72}{key[1]:<8}{key[2]:<12}{cells}{last[key][1]:>9}{bound[key][2]:>9}")

    lines(over)
    for law in LAWS:
        theirs = [key for key in by_law if bound[key][1] is law]
        if theirs:
            print(f"\n{law.buffers} buffers for each {law.each}, at most {law.cap}: {law.why} "
                  f"({len(theirs)} pages and counts)")
            lines(theirs)
    if options.all:
        print("\nwithin the bound of all pages")
        lines([key for key in last if last[key][0] <= bound[key][0]])
    return len(over)


TYPE = "kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }"
INTROSPECTION = f"""{{ __schema {{ types {{ kind name interfaces {{ name }}
  enumValues {{ name }} inputFields {{ name defaultValue type {{ {TYPE} }} }}
  fields {{ name type {{ {TYPE} }} args {{ name defaultValue type {{ {TYPE} }} }} }} }} }} }}"""


if __name__ == "__main__":
    main()
