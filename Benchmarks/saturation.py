"""The requests per second that a server answers, by `sociograph load` at a rate that is above them.

Arrivals are even, and more than the server answers: its connections are then busy all the time, and what was
answered within the window is what it can do. The rate follows the server, so that little is left to answer after
the window.
"""

import json
import os
import re
import subprocess
import sys

# Before the first run nothing is known: a second of this tells.
FIRST_RATE = 40_000
ABOVE = 1.25


class Load:
    """The requests of one operation, in a folder that is a mix.

    `variables` is a template of mix.json, whose `pools` may be given; each request has one of the `tokens`.
    """

    def __init__(self, program, folder, document, variables, tokens=(), pools=None, timeout=None):
        self.program, self.folder, self.timeout, self.rate = program, folder, timeout, None
        os.makedirs(folder, exist_ok=True)
        # Comments and fragments may be in front of it.
        found = re.search(r"^\s*(query|mutation)\b *(\w*)", document, re.MULTILINE)
        name = found[2] or "Bench"
        document = f"{document[:found.start()]}\n{found[1]} {name}{document[found.end():]}"
        with open(os.path.join(folder, name + ".graphql"), "w") as file:
            file.write(document)
        with open(os.path.join(folder, "mix.json"), "w") as file:
            json.dump({"pools": pools or {}, "operations": {name: {"variables": variables}}}, file)
        self.writes = ["--writes"] if found[1] == "mutation" else []
        self.tokens = []
        if tokens:
            names = os.path.join(folder, "tokens.txt")
            with open(names, "w") as file:
                file.write("\n".join(tokens) + "\n")
            self.tokens = ["--tokens", names]
        self.seed = 0

    def run(self, url, clients, seconds):
        """How many requests the server answered a second, and how many it answered in all."""
        if self.rate is None:
            answered, _ = self.offer(url, clients, 1, FIRST_RATE)
            self.rate = max(answered * ABOVE, 10)
        for _ in range(8):
            answered, count = self.offer(url, clients, seconds, self.rate)
            busy = answered < 0.97 * self.rate
            self.rate = max(answered * (ABOVE if busy else 2), 10)
            if busy:
                return answered, count
        sys.exit(f"bench: {url} answers whatever is offered")

    def offer(self, url, clients, seconds, rate):
        self.seed += 1
        save = os.path.join(self.folder, "run.json")
        words = [
            self.program, "load", self.folder, "--url", url, "--rate", f"{rate:.1f}", "--arrivals", "even",
            "--connections", str(clients), "--duration", f"{seconds}s", "--warm-up", "0s", "--timings", "off",
            "--timeout", f"{self.timeout or seconds}s", "--seed", str(self.seed), "--save", save, *self.tokens,
            *self.writes]
        run = subprocess.run(words, capture_output=True, text=True)
        # 3: it was late, which is of no matter here.
        if run.returncode not in (0, 3):
            sys.exit(f"bench: {' '.join(words)}\n{run.stdout}{run.stderr}")
        with open(save) as file:
            result = json.load(file)
        totals = result["totals"]
        errors = totals["errors"]
        failed = errors["total"] - errors["timeout"]
        if failed * 1000 > totals["offered"]:
            sys.exit(f"bench: errors in the answers\n{run.stdout}")
        if failed:
            print(f"bench: {failed} of {totals['offered']} requests failed: {errors['by_code']}", file=sys.stderr)
        window = sum(second["offered"] for second in result["seconds"])
        answered = (window - result["seconds"][-1]["in_flight"]) / seconds
        return answered, totals["ok"]
