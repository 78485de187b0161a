#!/usr/bin/python3
"""The attack on camouflaged PINs (R12): ranks the 10,000 PINs of four digits of each vault, and says where the true one is.

    attack.py DIRECTORY [--learn] [--planted]

Each directory in DIRECTORY is a vault without a passcode, with everything that a thief could have of it: `data/*.vault` and
`data/*.backup` (the file and old copies of it, and backups), the device key below `state`, and in `truth` the PIN, which the
attack reads only after it has ranked. The passphrase of the backups is `of the thief`.

The derivation must be cheap, as in vaults of tests: the attack derives a key for each PIN. It looks for everything that would
tell a right PIN from a wrong one, and each finding outranks all that follow:

1. one secret twice: two masked secrets that the same PIN unmasks to the same bytes, in one file or in two, also under two
   PIN items or under a mask that was made again; or one that is in the vault without a mask;
2. a secret that is text, or whose hash value or code is anywhere in the files: in an attribute, a state, the log or a decision that
   the server does not have;
3. with --learn, and hundreds of vaults: what the bytes beside the masked secrets say about the digits. It learns this from
   half of the vaults, whose PINs it is told, and ranks those of the other half;
4. how a secret differs from random bytes. Of right masks this is noise, so the ranks are those of a lottery.

Prints a line for each vault: its name, the rank of the true PIN (1: the first guess), and what was found. Then it judges all
ranks, and exits with 1 if they are better than chance allows. With --planted it exits with 1 unless each rank is 1.
"""
import argparse
import concurrent.futures
import functools
import glob
import hashlib
import hmac
import importlib.util
import itertools
import json
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("open_vault", os.path.join(HERE, "..", "..", "docs", "format", "open_vault.py"))
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
# Each PIN of a vault is derived with the same parameters.
reader.kdf_record = functools.cache(reader.kdf_record)

PASSPHRASE, COUNT = b"of the thief", 10_000
# So many bytes of a hash value are one of the files' only by intent.
WINDOW = 6
PRINTABLE = bytes(range(0x20, 0x7F))
PINS = [f"{number:04}".encode() for number in range(COUNT)]


class Thief(reader.Vault):
    """A vault as the reader opens it without a PIN, with what the reader keeps to itself."""

    def __init__(self, path, device_key):
        self.masked, self.pin_states, self.states = [], {}, []
        super().__init__(path, device_key, passphrase=PASSPHRASE if path.endswith(".backup") else None)

    def open_state(self, row, item_id, stored, generation, layout):
        plain = super().open_state(row, item_id, stored, generation, layout)
        if plain and row:
            self.states.append(plain)
        return plain

    def open_pin(self, item_id, secret, state, what):
        super().open_pin(item_id, secret, state, what)
        kdf = reader.decode(secret, what)[2]
        self.pin_states[item_id] = kdf, state[86:92] if state[1] & 8 else state[80:86], secret

    def unmask(self, policy, item_id, masked):
        self.masked.append((self.guard(policy)[1], item_id, masked))
        return None


class Loot:
    """Everything that the files of one vault say."""

    def __init__(self, directory):
        keys = glob.glob(os.path.join(directory, "state", "**", "*.key"), recursive=True)
        with open(keys[0], "rb") as file:
            key = file.read()
        paths = sorted(glob.glob(os.path.join(directory, "data", "*.vault")) + glob.glob(os.path.join(directory, "data", "*.backup")))
        # The vault as it is now is the one whose PIN is looked for.
        paths.sort(key=lambda path: os.path.basename(path).startswith("old-"))
        vaults = [Thief(path, None if path.endswith(".backup") else key) for path in paths]
        self.vault_id, now = vaults[0].id, vaults[0]
        self.plain = {reader.base64.b64decode(i["secretBase64"]) for v in vaults for i in v.out["items"] if "secretBase64" in i and i["kind"] != 17}
        # Each mask once, with the derivation and the offset under which it is used; those of now first.
        self.masks = []
        for vault in vaults:
            for pin, item, masked in vault.masked:
                kdf, offset, _ = vault.pin_states[pin]
                if not any(known[:3] == (kdf, item, masked) for known in self.masks):
                    self.masks.append((kdf, item, masked, offset))
        self.offset = now.pin_states[now.masked[0][0]][1]
        texts = [str(a["value"]) for v in vaults for i in v.out["items"] for a in i["attributes"]]
        texts += [str(entry.get("detail", "")) for v in vaults for entry in v.out.get("audit", [])]
        # What a server is to get of a transaction that was accepted.
        untold = [reader.base64.b64decode(i["secretBase64"]) for v in vaults for i in v.out["items"] if i["kind"] == 22 and "secretBase64" in i]
        texts += [data.decode("latin-1") for data in untold]
        self.codes = {code for text in texts for code in re.findall(r"(?<!\d)\d{6}(?!\d)", text)}
        raw = untold + [state for v in vaults for state in v.states] + [pin[2] for v in vaults for pin in v.pin_states.values()] + [t.encode() for t in texts]
        raw += [bytes.fromhex(digits) for text in texts for digits in re.findall(r"(?:[0-9a-fA-F]{2}){6,}", text)]
        raw += [reader.base64.b64decode(a["value"]) for v in vaults for i in v.out["items"] for a in i["attributes"] if a["type"] == "bytes"]
        self.windows = {piece[at:at + WINDOW] for piece in raw for at in range(len(piece) - WINDOW + 1)}
        self.features = [byte for pin in now.pin_states.values() for byte in pin[2] + pin[1]] + [b for state in now.states for b in state]


def keys_of(kdf, offset):
    """The key of the masks for each PIN, under one derivation and one offset."""
    return [reader.argon(bytes([0x30 + (d - 0x30 + o) % 10 for d, o in zip(pin + b"00", offset)]), kdf, "camouflage", True) for pin in PINS]


def unmasked(loot):
    """For each mask: the secret that each PIN gives. The PIN is the one of now, because a change keeps the digits that are derived from."""
    keys, found = {}, []
    for kdf, item, masked, offset in loot.masks:
        if kdf not in keys:
            keys[kdf] = keys_of(kdf, offset)
        info, length, number = b"vault/1/camouflage" + loot.vault_id + item, len(masked), int.from_bytes(masked, "big")
        found.append([(number ^ int.from_bytes(reader.hkdf(key, info, length), "big")).to_bytes(length, "big") for key in keys[kdf]])
    return found


def repeated(secrets, loot):
    """For each PIN: how many of its secrets are somewhere else too."""
    counts, where = [0] * COUNT, {}
    for index, row in enumerate(secrets):
        for number, secret in enumerate(row):
            where.setdefault(secret, []).append((index, number))
    for secret, places in where.items():
        if len(places) > 1 or secret in loot.plain:
            for index, number in places:
                # Under another derivation, the number is a PIN of another time.
                counts[number] += loot.masks[index][0] == loot.masks[0][0]
    return counts


def randomness(secret):
    """How little random bytes look like it: high for text, digits and repeated bytes."""
    printable = len(secret) - len(secret.translate(None, PRINTABLE))
    distinct = len(set(secret))
    return printable / len(secret) - distinct / len(secret) / 2


def is_told(secret, loot):
    """Whether a secret is text, or the files have its hash value or one of its first codes."""
    if not secret.translate(None, PRINTABLE + b"\t\r\n"):
        return True
    if any(hashed(secret).digest()[:WINDOW] in loot.windows for hashed in (hashlib.sha256, hashlib.sha1)):
        return True
    return bool(loot.codes) and any(code(secret, counter) in loot.codes for counter in range(20))


def code(secret, counter):
    """HOTP (RFC 4226) of six digits."""
    digest = hmac.digest(secret, counter.to_bytes(8, "big"), "sha1")
    number = int.from_bytes(digest[digest[19] % 16:][:4], "big") % 2 ** 31
    return f"{number % 1_000_000:06}"


def scores(loot):
    """What is said of each PIN without learning: repetitions, secrets that are told, noise."""
    secrets = unmasked(loot)
    repetitions = repeated(secrets, loot)
    rows = []
    for number in range(COUNT):
        mine = [row[number] for row in secrets]
        rows.append((repetitions[number], sum(is_told(secret, loot) for secret in mine), sum(map(randomness, mine))))
    return rows


def truth(directory):
    with open(os.path.join(directory, "truth"), encoding="ascii") as file:
        return file.read().strip()


class Lessons:
    """What each byte beside the secrets says of each digit, in vaults whose PIN is known."""

    def __init__(self, known):
        self.counts = {}
        for features, pin in known:
            for place, digit in enumerate(pin):
                for index, byte in enumerate(features):
                    self.counts.setdefault((place, index, byte % 10), [1] * 10)[int(digit)] += 1

    def weights(self, features):
        """For each place and digit: the logarithm of how likely it is."""
        found = [[0.0] * 10 for _ in range(4)]
        for place in range(4):
            for index, byte in enumerate(features):
                counts = self.counts.get((place, index, byte % 10))
                if counts:
                    total = sum(counts)
                    for digit in range(10):
                        found[place][digit] += math.log(counts[digit] / total)
        return found


def rank(rows, weights, pin):
    """1 for the first guess. Equal PINs count as guessed in the middle of all that are equal."""
    learned = [round(sum(digits), 6) for digits in itertools.product(*weights)] if weights else [0] * COUNT
    all_scores = [(row[0], row[1], lesson, row[2]) for row, lesson in zip(rows, learned)]
    mine = all_scores[int(pin)]
    return 1 + sum(other > mine for other in all_scores) + (sum(other == mine for other in all_scores) - 1) / 2


def judged(ranks):
    """Ranks of a lottery are uniform: their mean, how many are in the first percent, and how many are the first guess. None may
    be so far from what is expected as happens by chance once in ten million times."""
    count = len(ranks)
    mean = sum((r - 0.5) / COUNT for r in ranks) / count
    deviations = (mean - 0.5) * math.sqrt(12 * count)
    first_percent, first_guesses = sum(r <= COUNT / 100 for r in ranks), sum(r < 2 for r in ranks)
    is_chance = abs(deviations) < 5.33 and at_least(first_percent, count / 100) > 1e-7 and at_least(first_guesses, count / COUNT) > 1e-7
    return {"vaults": count, "mean": round(mean, 4), "deviations": round(deviations, 2), "inFirstPercent": first_percent,
            "firstGuesses": first_guesses, "isChance": is_chance}


def at_least(found, expected):
    """How likely so many are by chance (Poisson)."""
    return math.fsum(math.exp(k * math.log(expected) - expected - math.lgamma(k + 1)) for k in range(found, found + 200))


def features_of(directory): return Loot(directory).features


class Attack:
    """One vault, in a process of its own."""
    lessons = None

    @classmethod
    def begin(cls, lessons): cls.lessons = lessons

    @classmethod
    def run(cls, numbered):
        index, directory = numbered
        loot = Loot(directory)
        rows, pin = scores(loot), truth(directory)
        weights = cls.lessons[index % 2].weights(loot.features) if cls.lessons else None
        return rank(rows, weights, pin), rows[int(pin)]


def processes(**options):
    """One for each processor. They end without a signal, which whoever starts this may have blocked."""
    return concurrent.futures.ProcessPoolExecutor(**options)


def main():
    options = argparse.ArgumentParser(description="Rank the PINs of vaults with a camouflaged PIN.")
    options.add_argument("directory")
    options.add_argument("--learn", action="store_true", help="from half of the vaults, for the other half")
    options.add_argument("--planted", action="store_true", help="the vaults reveal their PIN: each must be the first guess")
    options = options.parse_args()
    directories = sorted(glob.glob(os.path.join(options.directory, "*", "")), key=lambda path: (len(path), path))
    if not directories:
        sys.exit("attack.py: there is no vault in that directory")
    lessons = None
    if options.learn:
        with processes() as pool:
            features = list(pool.map(features_of, directories))
        known = [(found, truth(directory)) for found, directory in zip(features, directories)]
        # Each half is ranked with what the other half teaches.
        lessons = [Lessons(known[1::2]), Lessons(known[0::2])]
    ranks = []
    with processes(initializer=Attack.begin, initargs=(lessons,)) as pool:
        for directory, (place, row) in zip(directories, pool.map(Attack.run, enumerate(directories))):
            ranks.append(place)
            print(json.dumps({"vault": os.path.basename(os.path.dirname(directory)), "rank": place, "repeated": row[0], "told": row[1]}), flush=True)
    result = judged(ranks)
    print(json.dumps(result))
    return 0 if (max(ranks) == 1 if options.planted else result["isChance"]) else 1


if __name__ == "__main__":
    sys.exit(main())
