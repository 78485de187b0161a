"""Compares vaultctl with whole tools as people use them: look up, add, list, first answer, memory."""
import os
import subprocess
import tempfile
from pathlib import Path

import peers

PASSCODE = "correct horse"


class Vault:
    """A vault made by vault-bench, and the arguments that select it."""

    def __init__(self, vaultctl, bench, folder, count, passcode=None):
        self.folder, self.count, self.vaultctl, self.passcode = Path(folder), count, vaultctl, passcode
        self.bench = bench
        # Use the vault that another subject has already made.
        subprocess.run([bench, "make", str(folder), str(count)] + ([passcode] if passcode else []), check=True)
        self.file, self.key = f"{folder}/data/bench.vault", f"{folder}/device.key"
        self.secret, self.code = self.folder / "secret", self.folder / "passcode"
        self.secret.write_text("s3cret-value")
        self.code.write_text(PASSCODE)
        self.code.chmod(0o600)

    def words(self, *verb):
        given = ["--passcode-file", str(self.code)] if self.passcode else []
        return [self.vaultctl, *verb, "--vault", self.file, "--device-key", self.key, *given]

    def commands(self):
        return {
            "get": (self.words("get", f"item-{self.count // 2}"), None),
            "add": (self.words("add", "new-%r"), str(self.secret)),
            # Names and attributes open with the device key alone, so a list needs no passcode.
            "list": (None, None) if self.passcode else (self.words("ls"), None),
        }


OPERATIONS = [("get", "look up one"), ("add", "add one"), ("list", "list all")]


def run(spawner, vaultctl, bench, sizes, ours_to, folder, note):
    """A race for each operation and size, and the memory that stays in use."""
    races, remarks, memory, cold = [], {}, [], []
    for size in sorted(set(sizes) | set(ours_to)):
        note(f"  {size} items")
        contenders = [("vaultctl", Vault(vaultctl, bench, f"{folder}/vault-{size}", size))]
        if size in sizes:
            contenders.append(("vaultctl, with passcode", Vault(vaultctl, bench, f"{folder}/p{size}", size, PASSCODE)))
        environment = dict(os.environ)
        filled, absent = [], []
        for kind in peers.ALL if size in sizes else []:
            if not kind.is_installed():
                absent.append(kind.name)
                continue
            peer = kind(tempfile.mkdtemp(dir=folder), size, environment)
            try:
                remarks[kind.name] = peer.fill()
                filled.append(peer)
            except Exception as failure:  # a peer that cannot be set up here is a line in the table, not the end
                absent.append(f"{kind.name} ({failure})")
                peer.close()
        try:
            for operation, title in OPERATIONS:
                races.append(race(spawner, operation, title, size, contenders, filled, absent, environment))
            for peer in filled:
                if (kib := peer.memory()) is not None:
                    memory.append({"name": peer.name, "items": size, "residentKiB": kib})
            for peer in filled:
                if hasattr(peer, "cold"):
                    samples = sorted(t for t in (peer.cold() for _ in range(3)) if t)
                    if samples:
                        cold.append({"name": peer.name, "items": size, "ns": samples[len(samples) // 2]})
        finally:
            for peer in filled:
                peer.close()
    return {"races": races, "remarks": remarks, "memory": memory, "cold": cold}


def race(spawner, operation, title, size, ours, filled, absent, environment):
    # Each peer has its own environment and speed, so each is timed in turn with only the plain vaultctl.
    mine = [(name, *map(text, vault.commands()[operation])) for name, vault in ours]
    first = spawner.race(f"tool-{operation}-{size}", f"{title} of {size:,}", mine[:1], environment, seconds=2)
    lines, gone = first["readings"], list(absent)
    others = [(name, words, source, environment) for name, words, source in mine[1:]]
    others += [(peer.name, *map(text, peer.commands().get(operation, (None, None))), peer.environment) for peer in filled]
    for name, words, source, own in others:
        if not words:
            continue
        result = spawner.race("", "", [mine[0], (name, words, source)], own, seconds=3)
        lines += result["readings"][1:]
        gone += result["absent"]
    return first | {"readings": lines, "absent": gone}


def text(value):
    return value if value is None or isinstance(value, list) else str(value)
