"""P11, P13, P14, P19, P21 and P24: one command on a vault of 100,000 items, compared with the same work in C or without a PIN, and lists."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from whole_tool import Vault

# A server sends a person some in the day for which they are kept.
TRANSACTIONS = (100, 1_000)
IN_MEMORY = "/dev/shm"


def run(spawner, vaultctl, bench, in_c, folder, count):
    vault = Vault(vaultctl, bench, f"{folder}/vault-{count}", count)
    # A separate vault for each: the last connection to close removes the log, and the next command would have to make it.
    shutil.copytree(f"{folder}/vault-{count}", f"{folder}/copy-for-c")
    other = Vault(vaultctl, bench, f"{folder}/copy-for-c", count)
    environment = dict(os.environ)
    name = f"item-{count // 2}"
    oathtool = ["oathtool", "--totp", "-b", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"] if shutil.which("oathtool") else None
    get = [
        ("the same in C", [in_c, other.file, other.key, name], None),
        ("vault: vaultctl get", vault.words("get", name), None),
        ("vault: vaultctl vault version", [vaultctl, "version"], None),
        ("true", ["true"], None),
    ]
    code = [
        ("the same in C", [in_c, other.file, other.key, "totp", "--totp"], None),
        ("vault: vaultctl code (TOTP)", vault.words("code", "totp"), None),
        ("vault: vaultctl code (HOTP, durable)", vault.words("code", "hotp"), None),
        ("oathtool (no storage, no sealing)", oathtool, None),
    ]
    pin = behind_pin(vault, bench)
    signing, proving, taking = client_work(vault, name)
    races = [
        spawner.race("start-get", f"vaultctl get, {count:,} items", get, environment),
        spawner.race("start-code", f"vaultctl code, {count:,} items", code, environment),
        spawner.race("start-sign", f"vaultctl key sign, {count:,} items", signing, environment),
        spawner.race("start-proof", f"vaultctl jwt dpop, {count:,} items", proving, environment),
        spawner.race("start-token", f"vaultctl card get, {count:,} items", taking, environment),
        spawner.race("start-pin", f"vaultctl code behind a PIN, {count:,} items", pin, environment),
    ]
    if os.path.isdir(IN_MEMORY):
        races.append(taking_in_memory(spawner, vault, bench, name, environment))
    for size in TRANSACTIONS:
        races.append(spawner.race(f"start-transactions-{size}", f"vaultctl transaction list, {size:,} transactions",
                                  lists(vaultctl, bench, folder, size), environment))
    for race in races:
        if any(reading["exit"] for reading in race["readings"]):
            raise SystemExit(f"bench: a command of {race['id']} failed: " + str([(r["name"], r["exit"]) for r in race["readings"]]))
    return races


def client_work(vault, name):
    """Signatures of a few bytes, proofs and tokens, beside the reading of an item."""
    subprocess.run(vault.words("key", "generate", "signer"), check=True)
    put_token(vault, "card")
    get = ("to compare: vaultctl get", vault.words("get", name), None)
    proof = vault.words("jwt", "dpop", "signer", "--method", "POST", "--url", "https://server.example/token")
    return ([get, ("vault: vaultctl key sign, P-256", vault.words("key", "sign", "signer"), str(vault.secret))],
            [get, ("vault: vaultctl jwt dpop, P-256", proof, None)],
            [get, ("vault: vaultctl card get (durable)", vault.words("card", "get", "card"), None),
             ("vaultctl code (HOTP, durable)", vault.words("code", "hotp"), None)])


def put_token(vault, name):
    with open(vault.secret) as secret:
        subprocess.run(vault.words("card", "put", name, "--ttl", "1d", "--uses", "1000000"), stdin=secret, check=True)


def taking_in_memory(spawner, vault, bench, name, environment):
    """The same without the disk: a token is taken by a write, which waits for it, and an item is only read."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as memory:
        shutil.copytree(vault.folder, f"{memory}/vault")
        copy = Vault(vault.vaultctl, bench, f"{memory}/vault", vault.count)
        # In a copy, the tokens of the first vault have ended.
        put_token(copy, "another card")
        race = [("to compare: vaultctl get", copy.words("get", name), None),
                ("vault: vaultctl card get", copy.words("card", "get", "another card"), None)]
        return spawner.race("start-token-memory", f"vaultctl card get, {vault.count:,} items, a vault in memory", race, environment)


def behind_pin(vault, bench):
    """Codes behind both kinds of PIN, beside one without a PIN."""
    subprocess.run([bench, "make-pins", str(vault.folder), str(vault.count)], check=True)
    pin = Path(vault.folder) / "pin"
    pin.write_text("8306")
    pin.chmod(0o600)
    codes = [("vault: without a PIN", vault.words("code", "hotp"), None)]
    return codes + [(f"vault: behind a {mode} PIN", vault.words("code", f"{mode}-0", "--pin-file", str(pin)), None)
                    for mode in ("checked", "camouflaged")]


def lists(vaultctl, bench, folder, count):
    """Transactions without their server, beside as many items."""
    items = Vault(vaultctl, bench, f"{folder}/vault-{count}", count)
    subprocess.run([bench, "make-transactions", f"{folder}/transactions-{count}", str(count)], check=True)
    transactions = Vault(vaultctl, bench, f"{folder}/transactions-{count}", 0)
    return [
        ("as many items: vaultctl ls", items.words("ls"), None),
        ("vault: vaultctl transaction list", transactions.words("transaction", "list"), None),
        ("vault: vaultctl ls --kind transaction, the same items", transactions.words("ls", "--kind", "transaction"), None),
    ]
