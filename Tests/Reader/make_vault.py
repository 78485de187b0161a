#!/usr/bin/python3
"""Writes a whole vault from docs/format/vault-file.md alone: foreign vaults for the Swift tests and for open_vault.py.

    make_vault.py OUT.vault [--seed N] [--passcode TEXT] [--no-recovery] [--standard-kdf] [--entries N]

Beside the vault it leaves OUT.vault.key (the device key, 32 raw bytes) and OUT.vault.json (what a reader must find,
secrets included). The same options give the same bytes in every row. Nothing here comes from open_vault.py or from Sources.
The default key derivation is cheap and marked so (header field 17). For tests only: these vaults hold no secret.
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import random
import sqlite3
import struct

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

TABLES = """
CREATE TABLE header(id INTEGER PRIMARY KEY CHECK(id = 1), body BLOB NOT NULL, mac BLOB NOT NULL) STRICT
CREATE TABLE slot(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, subject INTEGER NOT NULL, generation INTEGER NOT NULL, opener INTEGER NOT NULL, opener_id BLOB NOT NULL, body BLOB NOT NULL) STRICT
CREATE TABLE head(id INTEGER PRIMARY KEY CHECK(id = 1), body BLOB NOT NULL) STRICT
CREATE TABLE item(row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, primary_key BLOB NOT NULL UNIQUE, name BLOB UNIQUE, flags INTEGER NOT NULL, class INTEGER NOT NULL, generation INTEGER NOT NULL, version INTEGER NOT NULL, material INTEGER NOT NULL, expires INTEGER, meta BLOB NOT NULL) STRICT
CREATE TABLE material(row INTEGER PRIMARY KEY, keys BLOB NOT NULL, secret BLOB NOT NULL) STRICT
CREATE TABLE state(row INTEGER PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL) STRICT
CREATE TABLE blind(value BLOB NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(value, row)) STRICT, WITHOUT ROWID
CREATE TABLE segment(number INTEGER PRIMARY KEY, first INTEGER NOT NULL, previous BLOB NOT NULL, start BLOB NOT NULL) STRICT
CREATE TABLE audit(sequence INTEGER PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL) STRICT
""".strip().split("\n")

PASSCODE, PRESENCE, ANY, SET, AUDIT = 0x01000000, 0x02000000, 0x03000000, 0x04000000, 0x05000000
SEARCHABLE = (2, 3, 4, 7, 12, 15, 21, 22, 40, 41, 43)
NOW = 1_790_000_000_000
BOOT_ID = bytes(range(16))


def u8(x): return struct.pack(">B", x)
def u16(x): return struct.pack(">H", x)
def u32(x): return struct.pack(">I", x)
def u64(x): return struct.pack(">Q", x)
def i64(x): return struct.pack(">q", x)
def sha(x): return hashlib.sha256(x).digest()
def hm(k, m): return hmac.new(k, m, hashlib.sha256).digest()
def derive(k, info, n=32, salt=None): return HKDF(SHA256(), n, salt, info).derive(k)


def record(fields):
    out = b""
    for number in sorted(fields):
        if fields[number] is not None:
            out += u16(number) + u32(len(fields[number])) + fields[number]
    return out


def listed(values): return record(dict(enumerate(values, 1)))
def string(text): return b"\x01" + text.encode()
def raw(data): return b"\x02" + data
def integer(x): return b"\x03" + i64(x)
def boolean(x): return b"\x04" + u8(int(x))
def date(x): return b"\x05" + i64(x)


def public(scalar):
    return X25519PrivateKey.from_private_bytes(scalar).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def agree(scalar, peer):
    return X25519PrivateKey.from_private_bytes(scalar).exchange(X25519PublicKey.from_public_bytes(peer))


class Maker:
    """One vault in memory, row by row; `write` puts it into a file."""

    def __init__(self, seed=1, passcode=None, recovery=True, standard_kdf=False, generation=1, config=1):
        self.randomness = random.Random(seed)
        self.passcode, self.standard, self.generation, self.config = passcode, standard_kdf, generation, config
        self.vault_id, self.device_key = self.rnd(16), self.rnd(32)
        self.rk, self.lk = self.rnd(32), self.rnd(32)
        self.seals2 = 0
        self.slots, self.items, self.material, self.state, self.blind = [], [], {}, {}, []
        self.segments, self.audit, self.terms = [], [], []
        self.expected = []
        self.header_fields, self.factors, self.private = {}, {}, {}
        self.recovery_code = self.rnd(16) if recovery else None
        self.phrase = b"a phrase of the only member" if passcode else None
        self.make_keys()
        self.next_row, self.sequence = 1, 1
        self.last_mac = bytes(32)
        self.put_state(0, bytes(16), u8(2))

    def rnd(self, n): return self.randomness.randbytes(n)

    # seals
    def aad(self, part, fields): return record({1: self.vault_id, 3: part.encode(), **fields})

    def seal1(self, key, label, aad, plaintext):
        salt = hm(hm(key, b"vault/1/hedge"), self.rnd(32) + sha(aad) + sha(plaintext))
        keys = derive(key, label.encode() + b"\x00\x01\x01" + sha(aad), 64, salt)
        return b"\x01\x01" + salt + keys[32:] + AESGCM(keys[:32]).encrypt(bytes(12), plaintext, None)

    def seal2(self, purpose, aad, plaintext):
        head = b"\x01\x02" + u32(self.generation)
        nonce_key = derive(self.rk, f"vault/1/{purpose}-nonce".encode())
        nonce = hm(nonce_key, self.rnd(32) + sha(aad) + sha(plaintext))[:12]
        self.seals2 += 1
        key = derive(self.rk, f"vault/1/{purpose}".encode())
        return head + nonce + AESGCM(key).encrypt(nonce, plaintext, head + aad)

    # keys
    def kdf(self):
        memory, passes, lanes = (65536, 3, 4) if self.standard else (64, 1, 1)
        return record({1: u8(1), 2: u32(0x13), 3: u32(memory), 4: u32(passes), 5: u32(lanes), 6: self.rnd(16)})

    def argon(self, secret, kdf):
        memory, passes, lanes = (65536, 3, 4) if self.standard else (64, 1, 1)
        return hash_secret_raw(secret, kdf[-16:], passes, memory, lanes, 32, Type.ID, 0x13)

    def slot(self, kind, subject, opener, opener_id, layers, value, prefix=b""):
        """`layers`: (key, KDF record or None), the outer one first."""
        for layer, (key, kdf) in reversed(list(enumerate(layers, 1))):
            aad = self.aad("slot", {4: u32(self.generation), 20: u8(kind), 21: u32(subject), 22: u8(opener),
                                    23: opener_id, 24: kdf, 25: u8(layer)})
            value = self.seal1(key, "vault/1/seal-slot", aad, value)
        self.slots.append([len(self.slots) + 1, kind, subject, self.generation, opener, opener_id, prefix + value])

    def factor(self, number):
        self.private[number] = self.rnd(32)
        self.factors[number] = public(self.private[number])

    def make_keys(self):
        h = self.header_fields
        key_id = hm(self.device_key, b"vault/1/key-id")[:16]
        h |= {1: u16(1), 2: self.vault_id, 3: i64(NOW), 4: u64(self.config), 5: u8(1), 6: b"", 7: u32(self.generation),
              9: u8(1), 10: key_id, 99: b"a field of a later version"}
        if not self.standard:
            h[17] = u8(1)
        self.slot(1, 0, 1, key_id, [(self.device_key, None)], self.rk)
        self.slot(2, 0, 1, key_id, [(self.device_key, None)], self.lk)
        if self.recovery_code:
            r = derive(self.recovery_code, b"vault/1/recovery")
            h[12] = public(r)
            e = self.rnd(32)
            key = derive(agree(e, h[12]), b"vault/1/recovery-wrap" + public(e) + h[12])
            self.slot(1, 0, 2, b"", [(key, None)], self.rk, prefix=public(e))
        k_slot, k_slot_device = derive(self.rk, b"vault/1/slot"), derive(self.rk + self.lk, b"vault/1/slot")
        if self.passcode:
            h[11] = self.kdf()
            p = self.argon(self.passcode, h[11])
            k_unlock, k_prompt = derive(p, b"vault/1/unlock"), derive(p, b"vault/1/prompt")
        self.ck = {}
        for c in [1, 2, 0x81, 0x82] + [0x83] * bool(self.passcode):
            self.ck[c] = self.rnd(32)
            outer = (k_slot_device if c & 0x80 else k_slot, None)
            if self.passcode and c & 0x7F != 2:
                self.slot(3, c, 8, b"", [outer, (k_unlock, h[11])], self.ck[c])
            else:
                self.slot(3, c, 4, b"", [outer], self.ck[c])
        self.factor(AUDIT)
        if self.passcode:
            self.slot(4, AUDIT, 8, b"", [(k_slot, None), (k_unlock, h[11])], self.private[AUDIT])
            for f in (PASSCODE, PRESENCE, ANY):
                self.factor(f)
                self.slot(4, f, 5, b"", [(k_slot, None), (k_prompt, h[11])], self.private[f])
            self.slot(4, PRESENCE, 7, b"", [(k_slot, None), (self.private[ANY], None)], self.private[PRESENCE])
            h[15], member_id = self.kdf(), self.rnd(16)
            member_key = derive(self.argon(self.phrase, h[15]), b"vault/1/member")
            self.factor(SET + 1)
            for f in (ANY, SET + 1):
                self.slot(4, f, 6, member_id, [(k_slot, None), (member_key, h[15])], self.private[f])
            member = record({1: member_id, 2: u8(1), 3: b"left hand", 4: i64(NOW), 9: b"of a later version"})
            h[14] = record({1: u32(1), 2: sha(b"digest of the set"), 3: listed([member])})
        else:
            self.slot(4, AUDIT, 4, b"", [(k_slot, None)], self.private[AUDIT])
        h[13] = b"".join(u32(f) + self.factors[f] for f in sorted(self.factors))
        if self.passcode:
            h[16] = hm(derive(self.ck[1], b"vault/1/factor-mac"), h[13])

    # items
    def policy(self, accessibility=1, device=False, word=0, constraints=(), audit=0, exportable=False, token=None):
        listed_constraints = listed([record({1: u32(bit), 2: u32(f)}) for bit, f in constraints]) if constraints else None
        return record({1: u8(accessibility), 2: u8(device), 3: u32(word), 4: listed_constraints, 5: u8(audit),
                       6: u8(exportable), 7: token, 50: None})

    def put_state(self, row, item_id, plaintext, revision=1):
        body = self.seal2("state", self.aad("state", {2: item_id, 15: u64(revision)}), plaintext.ljust(160, b"\x00"))
        self.state[row] = (revision, body)
        self.terms.append(b"\x03" + u64(row) + body[-16:])

    def index(self, code, value):
        return hm(derive(self.rk, b"vault/1/index"), record({1: u16(code), 2: value}))[:16]

    def primary_key(self, kind, values):
        codes = {1: [2, 3], 2: [3, 15, 16, 17, 18, 19, 20], 3: [8, 9, 21, 22, 23, 25, 26, 27, 28], 4: [37, 40, 41]}
        fields = {c: values.get(c, i64(0) if c in (17, 19) else b"") for c in codes.get(kind, [1])}
        fields |= {12: values.get(12, b""), 13: values.get(13, b"\x00"), 0xFFF0: b"", 0xFFF1: b""}
        pk = record({1: b"pk", 2: u32(kind), 3: record(fields)})
        return hm(derive(self.rk, b"vault/1/index"), pk)[:16]

    def put_item(self, kind, attributes, secret=None, policy=None, accessibility=1, device=False, alternatives=None,
                 state=None, expires=None, extra_meta=None, flags=0, version=1, material=1, item_id=None, opens=True):
        """`alternatives`: list of (factor numbers, KDF record of an application password, further secrets)."""
        item_id, row = item_id or self.rnd(16), self.next_row
        self.next_row += 1
        policy = policy or self.policy(accessibility, device)
        cls = accessibility + (0x80 if device else 0)
        values = {code: value[1:] for code, value in attributes.items()}
        name = self.index(1, values[1]) if 1 in values else None
        blind = sorted(self.index(c, values[c]) for c in SEARCHABLE if c in values)
        primary = self.primary_key(kind, values)
        material = 0 if secret is None else material
        flags |= (4 if secret is not None else 0) | (1 if values.get(13) == b"\x01" else 0)
        bound = {2: item_id, 4: u32(self.generation), 6: u8(cls)}
        aad = self.aad("meta", {**bound, 5: u64(version), 8: u64(row), 9: u32(kind), 10: u32(flags),
                                11: None if expires is None else i64(expires), 12: primary, 13: name,
                                14: b"".join(blind), 16: u64(material)})
        meta = self.seal2("meta", aad, record({1: record(attributes), 2: policy, **(extra_meta or {})}))
        self.terms.append(b"\x01" + u64(row) + meta[-16:])
        self.items.append([row, item_id, kind, primary, name, flags, cls, self.generation, version, material, expires, meta])
        self.blind += [(value, row) for value in blind]
        if secret is not None:
            bound[7] = sha(policy)
            dek = self.rnd(32)
            inside = b"\x00" + dek
            if alternatives:
                inside = b"\x01" + listed([self.alternative(dek, bound, *a) for a in alternatives])
            keys = self.seal1(self.ck[cls], "vault/1/seal-keys", self.aad("keys", bound), inside)
            sealed = self.seal1(dek, "vault/1/seal-secret",
                                self.aad("secret", {2: item_id, 5: u64(material), 7: sha(policy)}), secret)
            self.material[row] = (keys, sealed)
            self.terms.append(b"\x02" + u64(row) + keys[-16:] + sealed[-16:])
        if state is not None:
            self.put_state(row, item_id, state)
        self.expected.append({"id": item_id.hex(), "kind": kind, "name": values[1].decode() if 1 in values else None,
                              "secretBase64": None if secret is None else base64.b64encode(secret).decode(),
                              "class": cls, "opens": bool(opens and secret is not None)})
        return item_id

    def alternative(self, dek, bound, factors, kdf=None, secrets=()):
        e = derive(dek, b"vault/1/ephemeral" + self.rnd(32))
        E = public(e) if factors else bytes(32)
        joined, halves = b"".join(u32(f) for f in factors), b"".join(self.factors[f] for f in factors)
        s = b"".join(agree(e, self.factors[f]) for f in factors) + b"".join(secrets)
        info = sha(record({1: bound[2], 2: bound[7], 3: joined, 4: E, 5: halves}))
        kek = derive(s, b"vault/1/alternative" + info)
        sealed = self.seal1(kek, "vault/1/seal-alternative", self.aad("alternative", bound), dek)
        return record({1: joined, 2: E, 3: kdf, 4: sealed, 9: b"of a later version"})

    def put_every_kind(self):
        rfc = b"12345678901234567890"
        self.put_item(1, {1: string("mail"), 2: string("mail.example"), 3: string("anna"), 4: string("Mail"),
                          44: date(NOW), 45: date(NOW), 9000: raw(b"\x00\xff")}, b"correct horse\x00\n",
                      extra_meta={9: b"a field of a later version"})
        self.put_item(1, {2: string("mail.example"), 3: raw(b"bytes\xfe"), 7: raw(b"\x01\x02"), 5: b"\x4da type of later"}, b"",
                      accessibility=2, state=u8(1))
        self.put_item(1, {1: string("no data"), 2: string(""), 3: string("no data")})
        self.put_item(2, {1: string("web"), 3: string("anna"), 15: string("example.org"), 17: integer(2), 19: integer(443),
                          20: string("/"), 12: string("team"), 13: boolean(True)}, b"pw", policy=self.policy(2), accessibility=2)
        self.put_item(3, {1: string("client key"), 21: raw(b"label"), 22: raw(b"tag"), 23: integer(1), 24: integer(73),
                          25: integer(256), 26: integer(256)}, b"PKCS8", device=True, policy=self.policy(1, True, 0x40000000))
        self.put_item(4, {37: integer(3), 40: raw(b"issuer"), 41: raw(b"\x05"), 43: raw(b"hash")}, b"DER")
        hotp = {1: string("rfc"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6)}
        self.put_item(16, hotp, rfc, state=(u8(1) + bytes(7) + u64(7)).ljust(104, b"\x00") + u64(7))
        self.put_item(16, {1: string("rfc6238"), 64: integer(2), 65: integer(1), 66: integer(1), 67: integer(8),
                           68: integer(30), 69: integer(1)}, rfc, accessibility=2, state=u8(1))
        self.put_pins(rfc)
        self.put_item(18, {1: string("finger")}, self.rnd(16), device=True, state=u8(1))
        life = record({1: i64(NOW), 2: u64(1000), 3: BOOT_ID, 4: u64(60_000), 5: u32(1)})
        self.put_item(19, {1: string("card")}, b"token", policy=self.policy(1, True, token=life), device=True,
                      state=u8(1).ljust(72, b"\x00") + u32(1), expires=NOW + 60_000)
        session = self.rnd(32)
        life = record({1: i64(NOW), 2: u64(1000), 3: BOOT_ID, 4: u64(60_000), 5: u32(1), 6: sha(b"vault/1/session" + session)})
        self.put_item(19, {1: string("card of a session")}, b"token", policy=self.policy(1, True, token=life), device=True,
                      alternatives=[([], None, [session])], state=u8(1), opens=False)
        consent = self.rnd(16)
        self.put_item(20, {1: string("consent")}, sha(b"vault/1/consent" + consent + b"123456"), item_id=consent,
                      policy=self.policy(1, True, token=life), device=True, state=u8(1), expires=NOW + 300_000)
        self.put_item(21, {1: string("client")}, b"{}")
        self.put_item(777, {1: string("a kind of later"), 60000: integer(-1)}, b"kept", flags=0x100, version=9, material=4)
        self.put_constrained()

    def put_pins(self, rfc):
        kdf, pin_id = self.kdf(), self.rnd(16)
        policy, d = self.policy(), self.rnd(32)
        bound = {2: pin_id, 5: u64(1), 7: sha(policy)}
        key = derive(self.argon(b"2580", kdf), b"vault/1/pin")
        sealed = self.seal1(key, "vault/1/seal-pin", self.aad("secret", bound), d)
        self.put_item(17, {1: string("default pin")}, record({1: u8(1), 2: kdf, 3: sealed}), policy=policy, item_id=pin_id,
                      state=u8(1))
        self.put_item(16, {1: string("behind pin"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6),
                           70: raw(pin_id)}, rfc, alternatives=[([], None, [d])], state=u8(1), opens=False)
        kdf, pin_id, otp_id, b = self.kdf(), self.rnd(16), self.rnd(16), [self.randomness.randrange(10) for _ in range(6)]
        mask = derive(self.argon(bytes(0x30 + x for x in b), kdf), b"vault/1/camouflage" + self.vault_id + otp_id, len(rfc))
        offset = bytes((x - int(y)) % 10 for x, y in zip(b, "258000"))
        self.put_item(17, {1: string("camouflaged pin")}, record({1: u8(2), 2: kdf}), item_id=pin_id,
                      state=u8(1).ljust(80, b"\x00") + offset)
        self.put_item(16, {1: string("camouflaged"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6),
                           70: raw(pin_id)}, bytes(x ^ y for x, y in zip(rfc, mask)), item_id=otp_id, state=u8(1))

    def put_constrained(self):
        kdf = self.kdf()
        self.put_item(1, {1: string("application password")}, b"behind a password", policy=self.policy(1, False, 0x80000000),
                      alternatives=[([], kdf, [self.argon(b"app password", kdf)])], opens=False)
        if not self.passcode:
            return
        self.put_item(1, {1: string("one alternative"), 2: string("bank")}, b"behind the passcode", accessibility=3, device=True,
                      policy=self.policy(3, True, 0x10, [(0x10, PASSCODE)]), alternatives=[([PASSCODE],)])
        self.put_item(1, {1: string("two alternatives"), 2: string("bank"), 3: string("b")}, b"behind either",
                      policy=self.policy(1, False, 0x4018, [(8, SET + 1), (0x10, PASSCODE)], audit=1),
                      alternatives=[([SET + 1],), ([PASSCODE],)])
        self.put_item(1, {1: string("both"), 2: string("bank"), 3: string("c")}, b"behind both",
                      policy=self.policy(1, False, 0x8018, [(8, SET + 1), (0x10, PASSCODE)]),
                      alternatives=[([PASSCODE, SET + 1],)], opens=False)
        self.put_item(1, {1: string("presence"), 2: string("bank"), 3: string("d")}, b"behind presence",
                      policy=self.policy(1, False, 1, [(1, PRESENCE)]), alternatives=[([PRESENCE],)])

    # audit
    def start_segment(self):
        number, previous = len(self.segments) + 1, self.last_mac
        self.k_a, e = self.rnd(32), self.rnd(32)
        key = derive(agree(e, self.factors[AUDIT]), b"vault/1/audit-wrap" + public(e) + self.factors[AUDIT])
        aad = self.aad("segment", {17: u64(number), 18: u64(self.sequence), 19: previous})
        start = public(e) + self.seal1(key, "vault/1/seal-audit", aad, self.k_a)
        self.segments.append((number, self.sequence, previous, start))
        self.last_mac = sha(previous + start)

    def log(self, operation, result=0, item=None, kind=None, detail=None):
        if not self.segments or self.sequence - self.segments[-1][1] == 4096:
            self.start_segment()
        entry = record({1: i64(NOW), 2: u64(5000), 3: BOOT_ID, 4: u32(1000), 5: u32(4711), 6: b"/usr/bin/vaultctl",
                        7: u16(operation), 8: item, 9: None if kind is None else u32(kind), 10: u16(result),
                        11: detail, 40: b"of a later version"})
        body = self.seal2("audit", self.aad("audit", {17: u64(self.sequence)}), entry)
        self.last_mac = hm(self.k_a, self.last_mac + u64(self.sequence) + sha(entry))
        self.audit.append((self.sequence, body, self.last_mac))
        self.k_a = hm(self.k_a, b"next")
        self.sequence += 1

    # the two rows that bind all others
    def head_row(self):
        k_sum = derive(self.rk, b"vault/1/sum")
        total = sum(int.from_bytes(hm(k_sum, term), "big") for term in self.terms) % 2 ** 256
        plain = (u16(1) + bytes(6) + u64(self.config) + u64(self.sequence - 1) + u64(self.next_row) + u64(len(self.items))
                 + u64(len(self.terms)) + total.to_bytes(32, "big") + u64(0) + u64(self.sequence) + u64(len(self.segments))
                 + u64(self.segments[-1][1]) + self.k_a + self.last_mac + i64(NOW) + u64(self.seals2 + 1) + bytes(64))
        assert len(plain) == 256
        return self.seal2("head", self.aad("head", {}), plain)

    def header_row(self):
        body = record(self.header_fields)
        slots = listed([record({1: u64(s[0]), 2: u8(s[1]), 3: u32(s[2]), 4: u32(s[3]), 5: u8(s[4]), 6: s[5], 7: s[6]})
                        for s in self.slots])
        return body, hm(derive(self.rk, b"vault/1/header"), record({1: body, 2: slots}))

    def write(self, path):
        for name in (path, path + "-wal", path + "-shm"):
            if os.path.exists(name):
                os.unlink(name)
        db = sqlite3.connect(path, isolation_level=None)
        for pragma in ("page_size=4096", "encoding='UTF-8'", "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
            db.execute("PRAGMA " + pragma)
        db.execute("BEGIN IMMEDIATE")
        for sql in TABLES:
            db.execute(sql)
        db.execute(f"PRAGMA application_id={0x564C5431}")
        db.execute("PRAGMA user_version=1")
        db.execute("INSERT INTO header VALUES(1,?,?)", self.header_row())
        db.execute("INSERT INTO head VALUES(1,?)", (self.head_row(),))
        db.executemany("INSERT INTO slot VALUES(?,?,?,?,?,?,?)", self.slots)
        db.executemany("INSERT INTO item VALUES(?,?,?,?,?,?,?,?,?,?,?,?)", self.items)
        db.executemany("INSERT INTO material VALUES(?,?,?)", [(r, *m) for r, m in self.material.items()])
        db.executemany("INSERT INTO state VALUES(?,?,?)", [(r, *s) for r, s in self.state.items()])
        db.executemany("INSERT INTO blind VALUES(?,?)", self.blind)
        db.executemany("INSERT INTO segment VALUES(?,?,?,?)", self.segments)
        db.executemany("INSERT INTO audit VALUES(?,?,?)", self.audit)
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
        os.chmod(path, 0o600)
        with open(path + ".key", "wb") as f:
            f.write(self.device_key)
        os.chmod(path + ".key", 0o600)
        with open(path + ".json", "w") as f:
            json.dump(self.manifest(), f, indent=1)

    def recovery_text(self):
        if not self.recovery_code:
            return None
        text = base64.b32encode(self.recovery_code + sha(b"vault/1/recovery-check" + self.recovery_code)[:4]).decode()
        return "-".join(text[i:i + 4] for i in range(0, 32, 4))

    def manifest(self):
        return {"vaultId": self.vault_id.hex(), "deviceKey": self.device_key.hex(), "recoveryCode": self.recovery_text(),
                "passcode": self.passcode.decode() if self.passcode else None,
                "phrase": self.phrase.decode() if self.phrase else None, "auditEntries": len(self.audit),
                "applicationPassword": "app password", "pin": "2580", "items": self.expected}


def make(path, seed=1, passcode=None, recovery=True, standard_kdf=False, entries=4100):
    maker = Maker(seed, passcode, recovery, standard_kdf)
    maker.put_every_kind()
    maker.log(1)
    for item in maker.items:
        maker.log(9, item=item[1], kind=item[2])
    maker.log(999, result=3, detail="an operation of a later version".encode())
    while len(maker.audit) < entries:
        maker.log(13)
    maker.write(path)
    return maker


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a test vault from the specification.")
    parser.add_argument("vault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passcode", type=str.encode)
    parser.add_argument("--no-recovery", action="store_true")
    parser.add_argument("--standard-kdf", action="store_true")
    parser.add_argument("--entries", type=int, default=4100)
    options = parser.parse_args()
    make(options.vault, options.seed, options.passcode, not options.no_recovery, options.standard_kdf, options.entries)
