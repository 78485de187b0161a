#!/usr/bin/python3
"""Writes docs/format/example.vault with the writer, then docs/format/example.md from what the reader finds in it.

    make_example.py            both again; `test_example.py` compares them with what is committed
"""
import importlib.util
import os
import shutil
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
FORMAT = os.path.join(HERE, "..", "..", "docs", "format")
PASSCODE, SEED = b"example passcode", 2026
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import make_vault  # noqa: E402

spec = importlib.util.spec_from_file_location("open_vault", os.path.join(FORMAT, "open_vault.py"))
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
encode, decode, hkdf, mac, H, u, n = reader.encode, reader.decode, reader.hkdf, reader.mac, reader.H, reader.u, reader.n
KEYS = ("header", "index", "sum", "meta", "meta-nonce", "state", "state-nonce", "head", "head-nonce", "audit", "audit-nonce", "slot")


def write(path):
    maker = make_vault.Maker(SEED, PASSCODE, standard_kdf=True, members=())
    return make_vault.make(path, entries=0, small=True, maker=maker)


class Page:
    def __init__(self): self.lines = []
    def text(self, words): self.lines += ["", *textwrap.wrap(" ".join(words.split()), 115, break_on_hyphens=False)]
    def head(self, words): self.lines += ["", "## " + words]

    def values(self, *pairs):
        """One `name = hex` each, 32 bytes a line."""
        width = max(len(name) for name, _ in pairs)
        self.lines += ["", "```"]
        for name, value in pairs:
            rows = textwrap.wrap(value.hex(), 64) if isinstance(value, bytes) else [str(value)]
            self.lines.append(f"{name:<{width}} = {rows[0] if rows else '(empty)'}")
            self.lines += [" " * (width + 3) + row for row in rows[1:]]
        self.lines.append("```")

    def record(self, name, value):
        self.values((name, value), *((f"  {number}", field) for number, field in decode(value, name).items()))

    def seal1(self, key, label, aad, blob):
        okm = hkdf(key, label + b"\0\1\1" + H(aad), 64, blob[2:34])
        plain = reader.open1(key, label, aad, blob, "example")
        self.record("aad", aad)
        self.values(("H(aad)", H(aad)), ("version", blob[:1]), ("suite", blob[1:2]), ("salt", blob[2:34]), ("commitment", blob[34:66]),
                    ("ciphertext", blob[66:-16]), ("tag", blob[-16:]), ("Ke", okm[:32]), ("Kcom", okm[32:]), ("plaintext", plain))
        return plain

    def seal2(self, vault, purpose, aad, blob):
        self.record("aad", aad)
        plain = vault.open2(purpose, aad, blob, "example")
        self.values(("version", blob[:1]), ("suite", blob[1:2]), ("generation", blob[2:6]), ("nonce", blob[6:18]),
                    ("ciphertext", blob[18:-16]), ("tag", blob[-16:]), ("plaintext", plain))
        return plain


def render(path, device_key):
    v, p = reader.Vault(path, device_key, PASSCODE), Page()
    p.lines = ["# The example vault"]
    p.text("""[`example.vault`](example.vault) is a vault of three items with the passcode `example passcode`, the standard
        derivation and a recovery code; [`example.vault.key`](example.vault.key) is its device key. This page opens it step by
        step as section 15 of [the specification](vault-file.md) says, with every value in hex (the numbers of a row's columns are decimal). Records are shown whole,
        then field by field. Header field 99 and audit field 40 belong to no version: a program keeps such fields.""")
    p.text("""`Tests/Reader/make_example.py` makes vault and page; a test compares both with what the writer knows. Try it:""")
    p.lines += ["", "```sh", "printf %s 'example passcode' |",
                "  ./open_vault.py example.vault --device-key example.vault.key --passcode-fd 0 --secrets", "```"]
    keys_page(p, v, device_key)
    head = v.head_row
    p.head("7. The head row")
    p.seal2(v, "head", v.aad("head", {}), v.head[0][1])
    p.values(("config", head[8:16]), ("sequence", head[16:24]), ("next row", head[24:32]), ("items", head[32:40]), ("summed rows", head[40:48]),
             ("S", head[48:80]), ("inode", head[80:88]), ("next audit sequence", head[88:96]), ("segment", head[96:104]),
             ("first of segment", head[104:112]), ("K_a", head[112:144]), ("last audit MAC", head[144:176]),
             ("recorded time", head[176:184]), ("suite-2 seals", head[184:192]), ("C of segment 2", head[200:232]),
             ("boot of the last commit", head[256:280]), ("candidate", head[280:312]))
    item_page(p, v)
    state_page(p, v)
    audit_page(p, v)
    return "\n".join(p.lines) + "\n"


def keys_page(p, v, device_key):
    (_, body, tag), = v.header
    p.head("1. The header")
    p.record("body", body)
    p.head("2. The device key")
    p.values(("DK", device_key), ("key id", mac(device_key, b"vault/1/key-id")[:16]))
    p.text("The key id equals header field 10. The slots:")
    p.lines += ["", "| id | kind | subject | generation | opener | bytes |", "|---|---|---|---|---|---|"]
    p.lines += [f"| {s[0]} | {s[1]} | {s[2]:#x} | {s[3]} | {s[4]} | {len(s[6])} |" for s in v.slot]
    root = v.root_slot(1, 1)
    p.head(f"3. The root key: slot {root[0]}, byte by byte")
    p.text("Key `DK`, label `vault/1/seal-slot`. Commitment and Kcom are equal, so this key is the right one.")
    rk = p.seal1(device_key, b"vault/1/seal-slot", v.slot_aad(root, 1), root[6])
    p.text("So this is `RK`, and from it:")
    names = [("K_" + key.replace("header", "hdr").replace("index", "idx"), v.key(key)) for key in KEYS]
    p.values(("RK", rk), *names, ("K_slot_device", hkdf(rk + v.lk[1], b"vault/1/slot-device")))
    p.head("4. The header MAC")
    slots = encode({i: encode({1: u(s[0], 8), 2: u(s[1], 1), 3: u(s[2], 4), 4: u(s[3], 4), 5: u(s[4], 1), 6: s[5], 7: s[6]}) for i, s in enumerate(v.slot, 1)})
    message = encode({1: body, 2: slots})
    p.values(("bytes under the MAC", len(message)), ("H(those)", H(message)), ("header.mac", tag), ("HMAC(K_hdr, …)", mac(v.key("header"), message)))
    local = next(s for s in v.slot if s[1] == 2)
    p.head(f"5. The this-device root key: slot {local[0]}")
    p.seal1(device_key, b"vault/1/seal-slot", v.slot_aad(local, 1), local[6])
    p.values(("LK", v.lk[1]))
    p.head("6. The passcode, class keys, audit root, trust key and factors")
    kdf = decode(v.h[11], "KDF record")
    p.record("KDF record", v.h[11])
    P = reader.argon(PASSCODE, v.h[11], "KDF record", False)
    p.values(("memory, KiB", n(kdf[3])), ("passes", n(kdf[4])), ("lanes", n(kdf[5])), ("passcode", PASSCODE), ("P", P),
             ("K_unlock", hkdf(P, b"vault/1/unlock")), ("K_prompt", hkdf(P, b"vault/1/prompt")))
    s = next(s for s in v.slot if s[1:3] == (3, 1))
    p.text(f"Slot {s[0]} holds the class key whenUnlocked in two layers. The outer one, key `K_slot`:")
    inner = p.seal1(v.key("slot"), b"vault/1/seal-slot", v.slot_aad(s, 1), s[6])
    p.text("Its plaintext is the inner one, key `K_unlock`, whose associated data holds the KDF record too:")
    p.seal1(hkdf(P, b"vault/1/unlock"), b"vault/1/seal-slot", v.slot_aad(s, 2, v.h[11]), inner)
    p.text("The others open alike:")
    p.values(*((f"CK[{c:#04x}]", key) for (c, _), key in sorted(v.ck.items())), ("audit root 1", v.audit_root[1]), ("T", v.trust),
             *((f"factor {f:#010x}", key) for f, key in sorted(v.private.items())))
    p.text("With the trust key the factor MAC, header field 16, is checked:")
    key, covered = hkdf(v.trust, b"vault/1/factor-mac"), encode({1: v.h[12], 2: v.h[13], 5: u(1, 4)})
    p.values(("factor MAC key", key), ("bytes under the MAC", len(covered)), ("factor MAC", mac(key, covered)))


def item_page(p, v):
    row, item_id, kind, primary, name, flags, cls, g, version, mv, expires, meta = v.item[0]
    p.head(f"8. The item of row {row}")
    p.values(("id", item_id), ("kind", kind), ("primary_key", primary), ("name", name), ("flags", flags), ("class", cls),
             ("generation", g), ("version", version), ("material", mv), ("expires", expires))
    p.text("`meta`, under `K_meta`:")
    aad = v.aad("meta", {2: item_id, 4: u(g, 4), 5: u(version, 8), 6: u(cls, 1), 8: u(row, 8), 9: u(kind, 4), 10: u(flags, 4),
                         12: primary, 13: name, 16: u(mv, 8)})
    plain = decode(p.seal2(v, "meta", aad, meta), "meta")
    p.text("Its attributes, each a type tag and the value, and its policy:")
    p.record("attributes", plain[1])
    p.record("policy", plain[2])
    p.values(("H(policy)", H(plain[2])))
    values = {c: a[1:] for c, a in decode(plain[1], "attributes").items()}
    p.text("The name, the blind index and the primary key follow from the attributes:")
    indexed = [(c, encode({1: u(c, 2), 2: values[c]})) for c in sorted(values)]
    p.values(*(pair for c, r in indexed for pair in ((f"record of {c}", r), (f"index of {c}", mac(v.key("index"), r)[:16]))))
    r = encode({1: b"pk", 2: u(kind, 4), 3: encode({1: values[1], 12: b"", 13: b"\0", 0xFFF0: b"", 0xFFF1: b""})})
    p.values(("record", r), ("primary key", mac(v.key("index"), r)[:16]))
    keys, secret = next((k, s) for r, k, s in v.material if r == row)
    p.text("`keys`, under CK[whenUnlocked], label `vault/1/seal-keys`:")
    bound = {2: item_id, 6: u(cls, 1), 7: H(plain[2]), 9: u(kind, 4)}
    dek = p.seal1(v.ck[cls, g], b"vault/1/seal-keys", v.aad("keys", {**bound, 4: u(g, 4)}), keys)
    p.text("The first byte is 0: the data key follows at once. `secret`, under it, label `vault/1/seal-secret`:")
    p.values(("DEK", dek[1:]))
    data = p.seal1(dek[1:], b"vault/1/seal-secret", v.aad("secret", {2: item_id, 5: u(mv, 8), 7: bound[7], 9: bound[9]}), secret)
    p.text(f"That is `{data.decode()}`.")


def state_page(p, v):
    row, revision, body = next(s for s in v.state if s[0] == 3)
    p.head(f"9. The state of row {row}, and the sum")
    plain = p.seal2(v, "state", v.aad("state", {2: v.item[2][1], 15: u(revision, 8)}), body)
    p.values(("layout", plain[:1]), ("counter", plain[8:16]))
    p.text("S adds one HMAC for each row of `item`, `material`, `state` and `blind`; here all messages `table ‖ row ‖ tags`:")
    terms = sorted((table, row, tags) for table, row, tags, _ in v.terms)
    p.values(*((f"{table} {row}", u(table, 1) + u(row, 8) + tags) for table, row, tags in terms), ("S", v.head_row[48:80]))


def audit_page(p, v):
    c, (number, first, previous, _) = v.audit_root[1], v.segment[0]
    p.head("10. The first entry of the audit")
    ka, anchor = mac(c, b"vault/1/audit-segment"), H(b"vault/1/audit-anchor" + u(number, 8) + u(first, 8) + previous)
    p.values(("C_1", c), ("C_2", mac(c, b"vault/1/audit-chain")), ("K_a", ka), ("anchor", anchor))
    sequence, body, tag = v.audit[0]
    plain = p.seal2(v, "audit", v.aad("audit", {17: u(sequence, 8)}), body)
    p.record("entry", plain)
    p.values(("HMAC(K_a, anchor ‖ sequence ‖ H(entry))", mac(ka, anchor + u(sequence, 8) + H(plain))), ("audit.mac", tag),
             ("next K_a", mac(ka, b"vault/1/audit-next")))


if __name__ == "__main__":
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "example.vault")
    maker = write(path)
    for rest in ("", ".key"):
        shutil.copyfile(path + rest, os.path.join(FORMAT, "example.vault" + rest))
    with open(os.path.join(FORMAT, "example.md"), "w") as f:
        f.write(render(path, maker.device_key))
    shutil.rmtree(folder)
