"""P26: a vault that the agent keeps unlocked: one look-up, many clients at once, and what stays in memory."""
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import peers
from whole_tool import PASSCODE, Vault

ITEMS = 10_000
AT_ONCE = 32


class Agent:
    """An agent in a place of its own. It keeps a vault with a passcode unlocked."""

    def __init__(self, vaultctl, bench, folder, count):
        self.vault = Vault(vaultctl, bench, f"{folder}/p{count}", count, PASSCODE)
        # The path of a socket is short.
        self.place = tempfile.mkdtemp(prefix="vault-agent-")
        self.environment = dict(os.environ, XDG_RUNTIME_DIR=self.place)
        self.run([vaultctl, "agent", "start"])
        self.run(self.vault.words("unlock", "--for", "1d", "--idle", "1d"))
        status = json.loads(self.run([vaultctl, "agent", "status", "--json"]).stdout)
        self.process, self.version = status["pid"], status["version"]

    def run(self, words):
        return subprocess.run(words, env=self.environment, stdout=subprocess.PIPE, check=True, text=True)

    def words(self, *verb):
        return [self.vault.vaultctl, *verb, "--vault", self.vault.file, "--device-key", self.vault.key, "--agent", "required"]

    def get(self):
        return self.words("get", f"item-{self.vault.count // 2}")

    def load(self, tool, clients, requests):
        """Requests of clients that are threads, so that no process is started for one."""
        words = [tool, f"{self.place}/vaultctl/agent", self.version, self.vault.file, self.vault.key, str(clients), str(requests)]
        return json.loads(self.run(words + self.get()[1:]).stdout)

    def resident(self):
        """In KiB."""
        with open(f"/proc/{self.process}/status") as lines:
            return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    def end(self):
        self.run([self.vault.vaultctl, "agent", "stop"])
        shutil.rmtree(self.place, ignore_errors=True)


def run(spawner, vaultctl, bench, binaries, folder, quick, note):
    """Its races, and the figures of many clients."""
    agent = Agent(vaultctl, bench, folder, ITEMS)
    try:
        races = [alone(spawner, agent), beside_passcode(spawner, agent), beside_peers(spawner, agent, folder, note)]
        tool = str(Path(binaries) / "agent-load")
        return races, {"load": at_once(agent, tool, quick), "memory": memory(agent, tool, quick)}
    finally:
        agent.end()


def alone(spawner, agent):
    plain = Vault(agent.vault.vaultctl, agent.vault.bench, agent.vault.folder.parent / f"vault-{ITEMS}", ITEMS)
    without = plain.words("get", f"item-{ITEMS // 2}", "--agent", "never")
    race = [(VERSION, [agent.vault.vaultctl, "version"], None),
            ("vault: vaultctl get, by the agent", agent.get(), None),
            ("to compare: vaultctl get, a vault without a passcode, no agent", without, None)]
    return succeeded(spawner.race("agent-get", f"vaultctl get through the agent, {ITEMS:,} items", race, agent.environment))


def beside_passcode(spawner, agent):
    alone = agent.vault.words("get", f"item-{ITEMS // 2}", "--agent", "never")
    race = [("to compare: vaultctl get, with the passcode each time", alone, None), ("vault: vaultctl get, by the agent", agent.get(), None)]
    return succeeded(spawner.race("agent-passcode", f"one unlock beside a passcode each time, {ITEMS:,} items", race, agent.environment))


def beside_peers(spawner, agent, folder, note, count=1_000):
    """Each in its own environment, so each in turn with a command that needs none."""
    version = (VERSION, [agent.vault.vaultctl, "version"], None)
    mine = ("vault: vaultctl get, by the agent", agent.get(), None)
    race = spawner.race("agent-peers", f"look up one while it is unlocked; peers with {count:,} items", [version, mine], agent.environment)
    for kind in (peers.Pass, peers.PassWithout, peers.GnomeKeyring):
        if not kind.is_installed():
            race["absent"].append(kind.name)
            continue
        peer = kind(tempfile.mkdtemp(dir=folder), count, dict(os.environ))
        try:
            peer.fill()
            words, source = peer.commands()["get"]
            race["readings"] += spawner.race("", "", [version, (peer.name, words, source)], peer.environment, seconds=3)["readings"][1:]
        except Exception as failure:  # a peer that cannot be set up here is a line in the table, not the end
            note(f"  {kind.name}: {failure}")
            race["absent"].append(kind.name)
        finally:
            peer.close()
    return succeeded(race)


def succeeded(race):
    if any(reading["exit"] for reading in race["readings"]):
        raise SystemExit(f"bench: a command of {race['id']} failed: " + str([(r["name"], r["exit"]) for r in race["readings"]]))
    return race


def at_once(agent, tool, quick):
    """In turn, and the best of the rounds of each: a disturbance makes a round worse, never better."""
    rounds, requests = (3, 500) if quick else (9, 2_000)
    found = [[agent.load(tool, clients, requests) for clients in (1, AT_ONCE)] for _ in range(rounds)]
    return [{"clients": each[0]["clients"], "perSecond": max(r["perSecond"] for r in each), "p50": min(r["p50"] for r in each),
             "p99": min(r["p99"] for r in each)} for each in zip(*found)]


def memory(agent, tool, quick):
    requests = 5_000 if quick else 100_000
    agent.load(tool, AT_ONCE, 1_000)
    before = agent.resident()
    agent.load(tool, 4, requests)
    return {"items": ITEMS, "requests": requests, "beforeKiB": before, "afterKiB": agent.resident()}


VERSION = "to compare: vaultctl vault version"
