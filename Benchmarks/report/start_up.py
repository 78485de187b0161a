"""P11 and P14: one command on a vault of 100,000 items, compared with the same work in C."""
import os
import shutil

from whole_tool import Vault


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
        ("vault: vaultctl item get", vault.words("item", "get", name), None),
        ("vault: vaultctl version", [vaultctl, "version"], None),
        ("true", ["true"], None),
    ]
    code = [
        ("the same in C", [in_c, other.file, other.key, "totp", "--totp"], None),
        ("vault: vaultctl otp code (TOTP)", vault.words("otp", "code", "totp"), None),
        ("vault: vaultctl otp code (HOTP, durable)", vault.words("otp", "code", "hotp"), None),
        ("oathtool (no storage, no sealing)", oathtool, None),
    ]
    races = [
        spawner.race("start-get", f"vaultctl item get, {count:,} items", get, environment),
        spawner.race("start-code", f"vaultctl otp code, {count:,} items", code, environment),
    ]
    for race in races:
        if any(reading["exit"] for reading in race["readings"]):
            raise SystemExit(f"bench: a command of {race['id']} failed: " + str([(r["name"], r["exit"]) for r in race["readings"]]))
    return races
