"""The rows P1 to P16, P18 to P21, P23 to P25, L5 and L10: target, reading, reference of the same run, ratio, met or not."""
import math

import shown
from start_up import TRANSACTIONS


class Results:
    def __init__(self, data):
        self.races = {race["id"]: race for race in data.get("races", [])}
        self.data = data

    def reading(self, race, name):
        """The reading whose name begins with `name`; None means the reference."""
        found = self.races.get(race)
        if not found or not found["readings"]:
            return None
        if name is None:
            return found["readings"][0]
        return next((r for r in found["readings"] if r["name"].startswith(name)), None)

    def ours(self, race):
        return self.reading(race, "vault")

    def fastest(self, race):
        found = self.races.get(race)
        mine = [r for r in found["readings"] if r["name"].startswith("vault")] if found else []
        return min(mine, key=lambda r: r["min"]) if mine else None


def against(results, ident, what, race, limit, target, reference=None):
    """Our minimum over a reference's minimum of the same race, and the median of the rounds."""
    mine, other = results.ours(race), results.reading(race, reference)
    if not mine or not other:
        return not_run(ident, what, target)
    ratio, middle = mine["min"] / other["min"], mine["median"] / other["median"]
    return row(ident, what, target, shown.time(mine["min"]), f"{other['name']}: {shown.time(other['min'])}", ratio, ratio <= limit,
               middle)


def row(ident, what, target, reading, reference, ratio, is_met, middle=None):
    return {"id": ident, "what": what, "target": target, "reading": reading, "reference": reference, "ratio": ratio,
            "ratioMedian": middle, "verdict": "stated" if is_met is None else "met" if is_met else "not met"}


def not_run(ident, what, target):
    return {"id": ident, "what": what, "target": target, "reading": "–", "reference": "–", "ratio": None, "ratioMedian": None,
            "verdict": "not run"}


def window(results):
    target = "≥ 10 × faster than oath_hotp_validate"
    what = "a wrong code, window of 1,000, all compared"
    mine, peer = results.fastest("otp-window"), results.reading("otp-window", "liboath")
    if not mine or not peer:
        return not_run("P2", what, target)
    faster = peer["min"] / mine["min"]
    return row("P2", what, target, f"{shown.time(mine['min'])} ({mine['name'].split(', ')[-1]})", f"liboath: {shown.time(peer['min'])}",
               1 / faster, faster >= 10, mine["median"] / peer["median"])


def bulk(results):
    mine = results.fastest("otp-bulk")
    what, target = "bulk verification, cached midstates, per candidate and core", "≤ 1.25 × lanes by hand"
    if not mine:
        return not_run("P3", what, target)
    lanes = mine["name"].split(", ")[-1]
    floor = results.reading("otp-bulk", "16 lanes by hand") or results.reading("otp-bulk", None)
    ratio = mine["min"] / floor["min"]
    return row("P3", what, target, f"{shown.time(mine['min'])} ({lanes})", f"{floor['name']}: {shown.time(floor['min'])}", ratio, ratio <= 1.25,
               mine["median"] / floor["median"])


def plain_layer(results):
    rows = []
    for what in ("seal", "open"):
        sized = [(size, results.ours(f"gcm-{what}-{size}"), results.reading(f"gcm-{what}-{size}", None)) for size in (16, 64, 256)]
        if not all(mine for _, mine, _ in sized):
            rows.append(not_run("P4", f"AES-256-GCM, {what} 16–256 B, kept schedule", "≤ 1.15 × C"))
            continue
        worst = max(sized, key=lambda s: s[1]["min"] / s[2]["min"])
        rows.append(row("P4", f"AES-256-GCM, {what} 16–256 B, kept schedule", "≤ 1.15 × C",
                        f"{shown.time(worst[1]['min'])} ({worst[0]} B, the worst)", f"C: {shown.time(worst[2]['min'])}",
                        worst[1]["min"] / worst[2]["min"], worst[1]["min"] / worst[2]["min"] <= 1.15,
                        worst[1]["median"] / worst[2]["median"]))
    return rows


def large(results):
    mine, floor = results.ours("gcm-large"), results.reading("gcm-large", None)
    rates = results.data.get("opensslSpeed")
    what, target = "seal 1 MiB", "≥ 0.97 × openssl speed"
    if not mine or not rates:
        return not_run("P6", what, target)
    ours, speed = rates["vault"], rates["aes-256-gcm"]
    return row("P6", what, target, f"{ours / 1e9:.2f} GB/s", f"openssl speed: {speed / 1e9:.2f} GB/s", ours / speed, ours >= 0.97 * speed,
               floor["median"] / mine["median"])


def random(results):
    rows = []
    for size, name in ((12, "nonce"), (32, "salt")):
        mine, other = results.ours(f"random-{size}"), results.reading(f"random-{size}", "RAND_bytes, 8 KiB")
        if not mine:
            rows.append(not_run("P7", f"a {name}, {size} bytes", "≤ 1.3 × a pool in C"))
            continue
        ratio = mine["min"] / other["min"]
        rows.append(row("P7", f"a {name}, {size} bytes", "≤ 1.3 × a pool in C", shown.time(mine["min"]), f"a pool in C: {shown.time(other['min'])}",
                        ratio, ratio <= 1.3, mine["median"] / other["median"]))
    return rows


def get(results, size):
    what, target = f"get one of {size:,} in a snapshot, less its opening", "≤ 1.4 × SQLite alone"
    mine, seal, sqlite = results.ours(f"get-{size}"), results.reading(f"get-{size}", "the same in C"), results.reading(f"get-{size}", "SQLite")
    if not mine:
        return not_run("P9", what, target)
    left = mine["min"] - seal["min"]
    return row("P9", what, target, f"{shown.time(left)} + {shown.time(seal['min'])}", f"SQLite alone: {shown.time(sqlite['min'])}",
               left / sqlite["min"], left / sqlite["min"] <= 1.4, (mine["median"] - seal["median"]) / sqlite["median"])


def listing(results, size=100_000):
    what, target = f"list {size:,} with their attributes opened, per item", "≤ 1.3 × C"
    mine, floor = results.reading(f"list-{size}", "vault: list"), results.reading(f"list-{size}", None)
    if not mine:
        return not_run("P10", what, target)
    ratio = mine["min"] / floor["min"]
    return row("P10", what, target, shown.time(mine["min"]), f"C: {shown.time(floor['min'])}", ratio, ratio <= 1.3,
               mine["median"] / floor["median"])


def start(results, race, verb):
    what, target = f"{verb}, no key derivation", "≤ 1.25 × C"
    mine, floor = results.ours(race), results.reading(race, None)
    if not mine:
        return not_run("P11", what, target)
    ratio = mine["min"] / floor["min"]
    return row("P11", what, target, shown.time(mine["min"]), f"C: {shown.time(floor['min'])}", ratio,
               ratio <= 1.25, mine["median"] / floor["median"])


def derivation(results):
    what, target = "the derivation in large pages", "≤ 0.85 × libargon2"
    mine, other = results.reading("unlock", "vault: the derivation"), results.reading("unlock", None)
    if not mine:
        return not_run("P12", what, target)
    ratio = mine["min"] / other["min"]
    return row("P12", what, target, shown.time(mine["min"]), f"libargon2: {shown.time(other['min'])}", ratio, ratio <= 0.85,
               mine["median"] / other["median"])


def durable(results):
    """Compares with the same rows in plain SQLite; also states what the disk alone takes."""
    code, put = "SQLite, the same three rows", "SQLite, the same eight rows"
    yield against(results, "P8", "durable HOTP, log recycled", "durable-hotp", 1.8, "≤ 1.8 × the same rows in SQLite", code)
    yield against(results, "P8", "durable put, four indexed attributes, log recycled", "durable-put", 1.5, "≤ 1.5 × the same rows in SQLite", put)
    for what, race in (("durable HOTP, log recycled", "durable-hotp"), ("durable put, log recycled", "durable-put"),
                       ("durable HOTP, log growing", "growing-hotp")):
        stated = against(results, "P8", what, race, math.inf, "stated")
        yield stated | {"verdict": "stated"} if stated["ratio"] else stated
    what, target = "HOTP with 32 counters reserved, per code", "≤ 1/15 of a durable one"
    reserved, single = results.ours("reserved-hotp"), results.ours("durable-hotp")
    if not reserved or not single:
        yield not_run("P8", what, target)
        return
    ratio = reserved["min"] / single["min"]
    yield row("P8", what, target, shown.time(reserved["min"]), f"durable HOTP: {shown.time(single['min'])}", ratio, ratio <= 1 / 15,
              reserved["median"] / single["median"])


def memory(results):
    mine = results.ours("start-get")
    what, target = "vaultctl get, vault of 100,000", "≤ 16 MiB"
    if not mine:
        return not_run("P14", what, target)
    return row("P14", what, target, f"{mine['hwmKiB'] / 1024:.1f} MiB", "VmHWM at exit", None, mine["hwmKiB"] <= 16 << 10)


def growth(results):
    what, target = "cost as work grows", "no step worse than n·log n"
    points = results.data.get("growth", {}).get("items", [])
    if len(points) < 2:
        return not_run("P15", what, target)
    worst, where = 0.0, ""
    for before, after in zip(points, points[1:]):
        step = after["items"] / before["items"] * math.log(after["items"]) / math.log(before["items"])
        for name in before["ns"]:
            if name in after["ns"]:
                # What n·log n allows for one item or one call.
                per_call = name not in ("list",)
                allowed = math.log(after["items"]) / math.log(before["items"]) if not per_call else step
                share = after["ns"][name] / before["ns"][name] / allowed
                if share > worst:
                    worst, where = share, f"{name}, {before['items']:,} → {after['items']:,}"
    # A step may no longer fit into a cache, which costs half as much again; a step of n² would cost 7 times as much.
    return row("P15", what, target, f"{worst:.2f} of what n·log n allows", where, worst, worst <= 1.5)


def calls(results):
    mine, actor = results.ours("call"), results.reading("call", "vault: through")
    if not mine:
        return not_run("P16", "one call through the actor", "stated")
    return row("P16", "one call through the actor", "stated", shown.time(actor["min"]), f"the core: {shown.time(mine['min'])}",
               actor["min"] / mine["min"], None, actor["median"] / mine["median"])


MODES = ("checked", "camouflaged")


def behind_pin(results):
    """A code behind a PIN: its latency, its counts, and the memory of a whole command."""
    for mode in MODES:
        yield against(results, "P19", f"code behind a {mode} PIN", f"pin-{mode}", 1.05, "≤ 1.05 × libargon2 and two durable codes")
    for mode, commits in zip(MODES, (2, 1)):
        what, target = f"a code behind a {mode} PIN, right or wrong", f"1 derivation, {several(commits, 'commit')}"
        found = [c for c in results.data.get("pinCounts", []) if c["mode"] == mode and c["what"].startswith("code")]
        yield counted("P19", what, target, found, lambda all: set(all) == {(1, commits)})
    argon2 = 64 << 10
    for mode in MODES:
        what, target = f"vaultctl code behind a {mode} PIN, memory", "≤ 16 MiB and Argon2's 64"
        mine = results.reading("start-pin", f"vault: behind a {mode} PIN")
        if not mine:
            yield not_run("P19", what, target)
            continue
        yield row("P19", what, target, f"{mine['hwmKiB'] / 1024:.1f} MiB", "VmHWM at exit", None, mine["hwmKiB"] <= (16 << 10) + argon2)


def pin_changes(results):
    for mode in MODES:
        found = [c for c in results.data.get("pinCounts", []) if c["mode"] == mode and c["what"] == "change"]
        accounts = ", ".join(f"{c['accounts']:,}" for c in found) or "1, 100, 10,000"
        yield counted("P20", f"change of a {mode} PIN of {accounts} accounts", "the same commits and derivations", found,
                      lambda all: len(set(all)) == 1)


def accepting(results):
    """An accepted transaction: its latency beside a derivation of either kind, and its counts."""
    what, race = "accept a transaction behind a checked PIN", "transaction-accept"
    parts = "two durable codes and the transport"
    yield against(results, "P23", what, race, 1.05, f"≤ 1.05 × libargon2, {parts}")
    yield against(results, "P23", what, race, 1.05, f"≤ 1.05 × our derivation, {parts}", "our derivation")
    yield counted("P23", "accept a transaction, right or wrong PIN", "1 derivation, 2 commits", results.data.get("transactionCounts", []),
                  lambda all: set(all) == {(1, 2)})


def transaction_lists(results, size=1_000):
    """The verbs, and the calls of the library."""
    for count in TRANSACTIONS:
        what, target = f"vaultctl transaction list of {count:,}, no server", "≤ 1.1 × vaultctl ls of as many"
        yield against(results, "P24", what, f"start-transactions-{count}", 1.1, target)
    stated = against(results, "P24", f"list {size:,} transactions in the library, each", f"transaction-list-{size}", math.inf, "stated")
    yield stated | {"verdict": "stated"} if stated["ratio"] else stated


def several(count, what):
    return f"{count} {what}{'s' * (count != 1)}"


def counted(ident, what, target, found, is_met):
    if not found:
        return not_run(ident, what, target)
    counts = [(c["derivations"], c["commits"]) for c in found]
    reading = " / ".join(f"{several(derivations, 'derivation')}, {several(commits, 'commit')}" for derivations, commits in dict.fromkeys(counts))
    return row(ident, what, target, reading, "–", None, is_met(counts))


def through_agent(results):
    """One look-up, many at once, and memory, while the vault is unlocked."""
    found = results.data.get("agent")
    many, tail, room = ("32 clients of the agent at once", "≥ 1.3 × the rate of one"), ("the same: p99", "≤ 10 × its p50"), \
        ("memory of the agent, 10,000 items", "≤ 32 MiB, no growth")
    looks = [
        against(results, "P26", "vaultctl get through the agent", "agent-get", 1.15, "≤ 1.15 × vaultctl vault version"),
        against(results, "P26", "the same, one unlock for all", "agent-passcode", 1 / 20, "≤ 1/20 of one with its passcode"),
    ]
    if not found:
        return looks + [not_run("P26", *each) for each in (many, tail, room)]
    one, all_of = found["load"]
    faster, spread = all_of["perSecond"] / one["perSecond"], all_of["p99"] / all_of["p50"]
    memory = found["memory"]
    before, after = memory["beforeKiB"] / 1024, memory["afterKiB"] / 1024
    return looks + [
        row("P26", *many, f"{all_of['perSecond']:,.0f}/s", f"one: {one['perSecond']:,.0f}/s", faster, faster >= 1.3),
        row("P26", *tail, shown.time(all_of["p99"]), f"p50: {shown.time(all_of['p50'])}", spread, spread <= 10),
        row("P26", *room, f"{after:.1f} MiB", f"{memory['requests']:,} requests before: {before:.1f} MiB", after / before,
            after <= 32 and after <= 1.05 * before),
    ]


def rows(data):
    r = Results(data)
    return [
        against(r, "P1", "one HOTP as a number", "otp-one", 1.25, "≤ 1.25 × two SHA1_Transform"),
        against(r, "P1", "one HOTP as six digits", "otp-text", 1.5, "≤ 1.5 × two SHA1_Transform"),
        window(r), bulk(r), *plain_layer(r),
        against(r, "P5", "committing seal, 64 B, 220 B associated data: seal", "suite1-seal", 1.15, "≤ 1.15 × the same in C"),
        against(r, "P5", "the same: open", "suite1-open", 1.15, "≤ 1.15 × the same in C"),
        against(r, "P5", "record seal, 64 B, 220 B associated data: open", "suite2-open", 1.15, "≤ 1.15 × the same in C"),
        large(r), *random(r),
        *durable(r),
        get(r, 100_000), get(r, 1_000_000), listing(r),
        start(r, "start-get", "vaultctl get"), start(r, "start-code", "vaultctl code"),
        against(r, "P12", "unlock by passcode, 64 MiB, t 3, p 4", "unlock", 1.05, "≤ 1.05 × libargon2"), derivation(r),
        against(r, "P13", "P-256 sign, key held open", "sign-p256", 1.1, "≤ 1.1 × OpenSSL"),
        against(r, "P13", "Ed25519 sign, key held open", "sign-ed25519", 1.1, "≤ 1.1 × OpenSSL"),
        against(r, "P13", "vaultctl key sign, P-256", "start-sign", 1.25, "≤ 1.25 × vaultctl get"),
        memory(r), growth(r), calls(r),
        against(r, "P18", "OCRA code, QN08", "ocra-question", 1.3, "≤ 1.3 × the HMAC with a kept key"),
        against(r, "P18", "OCRA code, C-QN08-PSHA1", "ocra-counter", 1.3, "≤ 1.3 × the HMAC with a kept key"),
        *behind_pin(r), *pin_changes(r),
        against(r, "P21", "DPoP proof, P-256, key held open", "dpop-p256", 1.4, "≤ 1.4 × a signature of OpenSSL"),
        against(r, "P21", "read the tokens of a client, of 100,000 items", "token-set-100000", 1.4, "≤ 1.4 × two secrets"),
        against(r, "P21", "vaultctl jwt dpop", "start-proof", 1.25, "≤ 1.25 × vaultctl get"),
        against(r, "P21", "take a card token, durable", "durable-token", 1.3, "≤ 1.3 × a durable HOTP code"),
        against(r, "P21", "vaultctl card get", "start-token", 1.25, "≤ 1.25 × vaultctl get"),
        against(r, "P21", "vaultctl card get, a vault in memory", "start-token-memory", 1.25, "≤ 1.25 × vaultctl get"),
        against(r, "P21", "vaultctl card get, durable", "start-token", 1.3, "≤ 1.3 × vaultctl code", "vaultctl code"),
        *accepting(r), *transaction_lists(r),
        against(r, "P25", "a request over HTTPS by vault-http, start included", "start-https", 1.3, "≤ 1.3 × curl"),
        *through_agent(r),
        against(r, "L10", "enroll 10,000 credentials in one transaction, each", "enroll-many", 1.2, "≤ 1.2 × the same puts",
                "vault: put the same items"),
        against(r, "L5", "read a secret while a prompt is open", "open-prompt", 2, "≤ 2 × the read without a prompt"),
    ]
