"""Whole commands, timed in turn by vault-spawn."""
import json
import shutil
import subprocess
import time

from statistics_of import with_ratios


class Spawner:
    def __init__(self, binary, quick):
        self.binary, self.quick = binary, quick

    def race(self, ident, title, contenders, environment, seconds=6.0):
        """`contenders` are (name, words, input file or None); words is None if the tool is absent."""
        present = [c for c in contenders if c[1] and shutil.which(c[1][0], path=environment.get("PATH"))]
        absent = [c[0] for c in contenders if c not in present]
        readings = []
        if present:
            rounds = self.rounds(present, environment, seconds)
            lines = self.run(present, environment, rounds)
            for (name, _, _), line in zip(present, lines):
                readings.append({"name": name, "ns": line["wall"], "cpu": sorted(line["cpu"])[len(line["cpu"]) // 2],
                                 "hwmKiB": line["hwmKiB"], "exit": line["exit"]})
            with_ratios(readings)
        return {"id": ident, "title": title, "unit": "command", "absent": absent, "readings": readings}

    def rounds(self, contenders, environment, seconds):
        start = time.monotonic()
        for _, words, source in contenders:
            self.once(words, source, environment)
        once = time.monotonic() - start
        most = 15 if self.quick else 60
        return max(3, min(most, int((seconds / 3 if self.quick else seconds) / max(once, 1e-3))))

    @staticmethod
    def once(words, source, environment):
        words = [w.replace("%r", "trial") for w in words]
        with open(source or "/dev/null", "rb") as given:
            return subprocess.run(words, stdin=given, capture_output=True, env=environment, timeout=120)

    def run(self, contenders, environment, rounds):
        words = [self.binary, str(rounds)]
        for index, (_, command, source) in enumerate(contenders):
            words += (["--"] if index else []) + ([f"<{source}"] if source else []) + command
        done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=600, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]
