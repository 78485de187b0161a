#!/usr/bin/python3
"""Writes a whole vault from docs/format/vault-file.md alone: foreign vaults for the Swift tests and for open_vault.py.

    make_vault.py OUT.vault [--seed N] [--passcode TEXT] [--no-recovery] [--standard-kdf] [--entries N] [--small]

Beside the vault it leaves OUT.vault.key (the device key, 32 raw bytes) and OUT.vault.json (what a reader must find,
secrets included). The same options give the same bytes in every row. Nothing here comes from open_vault.py or from Sources.
The default key derivation is cheap and marked so (header field 17). For tests only: these vaults hold no secret.
"""
import argparse
import base64
import json
import os
import random
import sqlite3

from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from vault_bytes import *  # noqa: F403
from vault_contents import Contents

SOURCES = {"phrase": 1, "fprintd": 2, "login": 3}
LOGIN = 0x05000000


class Maker(Contents):
    """One vault in memory, row by row; `write` puts it into a file."""

    def __init__(self, seed=1, passcode=None, recovery=True, standard_kdf=False, members=("phrase",), backup=None, config=1):
        """`members`: their sources, with a passcode only. `backup`: a passphrase makes the vault a backup (section 13)."""
        self.randomness = random.Random(seed)
        self.passcode, self.standard, self.config, self.backup = passcode, standard_kdf, config, backup
        self.generation, self.generations, self.rk, self.lk, self.ck = 0, [], {}, {}, {}
        self.vault_id, self.device_key = self.rnd(16), self.rnd(32)
        self.slots, self.items, self.material, self.state, self.blind, self.former = [], [], {}, {}, [], []
        self.segments, self.audit, self.terms, self.expected = [], [], {}, []
        self.factors, self.private, self.members, self.set_record, self.session = {}, {}, [], None, bytes(32)
        self.next_row, self.sequence, self.last_mac = 1, 1, bytes(32)
        self.sealed = []                                   # key, associated data, plaintext, seal; for test_example.py
        self.recovery_code = self.rnd(16) if recovery and not backup else None
        self.phrase = b"a phrase of the first member" if passcode and "phrase" in members else None
        self.roots = {1: self.rnd(32)}                     # audit roots by their first segment
        self.next_generation()
        self.next_c = self.roots[1]
        self.make_header(members if passcode else ())
        self.seal_slots()
        self.put_state(0, bytes(16), u8(2))

    def rnd(self, n): return self.randomness.randbytes(n)

    # seals
    def aad(self, part, fields): return record({1: self.vault_id, 3: part.encode(), **fields})

    def seal1(self, key, label, aad, plaintext):
        salt = hm(hm(key, b"vault/1/hedge"), self.rnd(32) + sha(aad) + sha(plaintext))
        keys = derive(key, label.encode() + b"\x00\x01\x01" + sha(aad), 64, salt)
        blob = b"\x01\x01" + salt + keys[32:] + AESGCM(keys[:32]).encrypt(bytes(12), plaintext, None)
        self.sealed.append((key, aad, plaintext, blob))
        return blob

    def seal2(self, purpose, aad, plaintext):
        head = b"\x01\x02" + u32(self.generation)
        nonce_key = derive(self.rk[self.generation], f"vault/1/{purpose}-nonce".encode())
        nonce = hm(nonce_key, self.rnd(32) + sha(aad) + sha(plaintext))[:12]
        self.seals2 += 1
        key = derive(self.rk[self.generation], f"vault/1/{purpose}".encode())
        blob = head + nonce + AESGCM(key).encrypt(nonce, plaintext, head + aad)
        self.sealed.append((key, aad, plaintext, blob))
        return blob

    # keys
    def kdf(self):
        memory, passes, lanes = (65536, 3, 4) if self.standard else (64, 1, 1)
        return record({1: u8(1), 2: u32(0x13), 3: u32(memory), 4: u32(passes), 5: u32(lanes), 6: self.rnd(16)})

    def argon(self, secret, kdf):
        memory, passes, lanes = (65536, 3, 4) if self.standard else (64, 1, 1)
        return hash_secret_raw(secret, kdf[-16:], passes, memory, lanes, 32, Type.ID, 0x13)

    def slot(self, kind, subject, generation, opener, opener_id, layers, value):
        """`layers`: (key, KDF record or None, what stands before the seal), the outer one first."""
        for layer, (key, kdf, prefix) in reversed(list(enumerate(layers, 1))):
            of_generation = None if layer == 2 and kind in (4, 5) else u32(generation)
            aad = self.aad("slot", {4: of_generation, 20: u8(kind), 21: u32(subject), 22: u8(opener), 23: opener_id,
                                    24: kdf, 25: u8(layer)})
            value = prefix + self.seal1(key, "vault/1/seal-slot", aad, value)
        self.slots.append([len(self.slots) + 1, kind, subject, generation, opener, opener_id, value])

    def factor(self, number):
        self.private[number] = self.rnd(32)
        self.factors[number] = public(self.private[number])

    def next_generation(self):
        self.generation += 1
        self.generations = [self.generation] + self.generations[:1]
        self.seals2 = 0
        self.rk[self.generation] = self.rnd(32)
        if not self.backup:
            self.lk[self.generation] = self.rnd(32)
        for c in self.classes():
            self.ck[c, self.generation] = self.rnd(32)
        self.trust = self.rnd(32) if self.passcode else None

    def classes(self):
        device_only = [] if self.backup else [0x81, 0x82] + [0x83] * bool(self.passcode)
        return [1, 2] + device_only

    def rotate(self):
        """Into an epoch rotation: both generations have their keys, items stay where they are."""
        self.next_generation()
        self.config += 1
        self.header_fields |= {4: u64(self.config), 7: u32(self.generation), 8: u32(self.generation - 1)}
        if self.members:
            self.seal_set()
        if self.passcode:
            self.bind_factors()
        self.seal_slots()

    def make_header(self, sources):
        self.key_id = hm(self.device_key, b"vault/1/key-id")[:16]
        h = self.header_fields = {
            1: u16(1), 2: self.vault_id, 3: i64(NOW), 4: u64(self.config), 5: u8(1), 6: u32(1) + u32(2) + u32(3), 7: u32(self.generation),
            9: u8(1), 10: self.key_id, 99: b"a field of a later version"}
        if not self.standard:
            h[17] = u8(1)
        if self.recovery_code:
            h[12] = public(derive(self.recovery_code, b"vault/1/recovery"))
        if self.backup:
            self.backup_kdf = self.kdf()
            h[18] = record({1: i64(NOW), 2: self.backup_kdf, 3: u32(1)})
        if self.passcode:
            h[11] = self.kdf()
            p = self.argon(self.passcode, h[11])
            self.k_unlock, self.k_prompt = derive(p, b"vault/1/unlock"), derive(p, b"vault/1/prompt")
            for f in (PASSCODE, PRESENCE, ANY) + (SET + 1,) * any(source != "login" for source in sources):
                self.factor(f)
            self.enroll(sources)
            h[13] = b"".join(u32(f) + self.factors[f] for f in sorted(self.factors))
            h[19] = u32(MEMBER + 77)
            self.bind_factors()

    def bind_factors(self):
        h = self.header_fields
        roots = b"".join(u32(first) for first in sorted(self.roots))
        h[16] = hm(derive(self.trust, b"vault/1/factor-mac"), record({1: h.get(12), 2: h.get(13), 3: h.get(15), 4: self.set_record, 5: roots, 6: h.get(8)}))

    def enroll(self, sources):
        h = self.header_fields
        if "phrase" in sources:
            h[15] = self.kdf()
        for number, source in enumerate(sources, 1):
            factor = LOGIN if source == "login" else MEMBER + number
            self.factor(factor)
            self.members.append((self.rnd(16), source, factor))
        if sources:
            self.seal_set()

    def member_record(self, member_id, source, factor):
        return record({1: member_id, 2: u8(SOURCES[source]), 3: b"left hand", 4: i64(NOW), 5: u32(factor), 9: b"of a later version"})

    def seal_set(self, record_of_set=None):
        """Field 14 for `members` as they are, with a field of a later version; or for a record that is none."""
        fingers = [b"left hand" for _, source, _ in self.members if source == "fprintd"]
        self.set_record = record_of_set or record({1: u32(1), 2: sha(listed(fingers)), 3: listed([self.member_record(*m) for m in self.members]),
                                                   9: b"of a later version"})
        self.header_fields[14] = self.seal2("meta", self.aad("enrolled", {}), self.set_record)

    def seal_slots_again(self):
        if self.passcode:
            self.bind_factors()
        self.seal_slots()

    def seal_slots(self):
        self.slots = []
        for g in self.generations:
            self.seal_root_keys(g)
            self.seal_class_keys(g)
        self.seal_factors_and_audit_roots(self.generations[0])

    def seal_root_keys(self, g):
        h, value = self.header_fields, self.rk[g]
        if self.backup:
            key = derive(self.argon(self.backup, self.backup_kdf), b"vault/1/passphrase")
            return self.slot(1, 0, g, 3, b"", [(key, self.backup_kdf, b"")], value)
        self.slot(1, 0, g, 1, self.key_id, [(self.device_key, None, b"")], value)
        self.slot(2, 0, g, 1, self.key_id, [(self.device_key, None, b"")], self.lk[g])
        if self.recovery_code:
            self.slot(1, 0, g, 2, b"", [self.wrapping(h[12], b"vault/1/recovery-wrap")], value)

    def wrapping(self, half, label):
        e = self.rnd(32)
        return derive(agree(e, half), label + public(e) + half), None, public(e)

    def slot_key(self, g, device=False):
        if device:
            return derive(self.rk[g] + self.lk[g], b"vault/1/slot-device")
        return derive(self.rk[g], b"vault/1/slot")

    def seal_class_keys(self, g):
        for c in self.classes():
            outer = (self.slot_key(g, c & 0x80), None, b"")
            if self.passcode and c & 0x7F != 2:
                self.slot(3, c, g, 8, b"", [outer, (self.k_unlock, self.header_fields[11], b"")], self.ck[c, g])
            else:
                self.slot(3, c, g, 4, b"", [outer], self.ck[c, g])

    def seal_factors_and_audit_roots(self, g):
        h, outer = self.header_fields, (self.slot_key(g), None, b"")
        for first, root in self.roots.items():
            if self.passcode:
                self.slot(5, first, g, 8, b"", [outer, (self.k_unlock, h[11], b"")], root)
            else:
                self.slot(5, first, g, 4, b"", [outer], root)
        if self.passcode:
            self.slot(6, 0, g, 8, b"", [outer, (self.k_unlock, h[11], b"")], self.trust)
        for f in (PASSCODE, PRESENCE, ANY) * bool(self.passcode):
            self.slot(4, f, g, 5, b"", [outer, (self.k_prompt, h[11], b"")], self.private[f])
        if any(source != "login" for _, source, _ in self.members):
            self.slot(4, PRESENCE, g, 7, b"", [outer, (self.private[ANY], None, b"")], self.private[PRESENCE])
        for member_id, source, number in self.members:
            for f in (PRESENCE,) if source == "login" else (ANY, SET + 1):
                wrap = self.wrapping(self.factors[number], b"vault/1/member-wrap")
                self.slot(4, f, g, 6, member_id, [outer, wrap], self.private[f])
            layers = [outer]
            if source == "phrase":
                key = derive(self.argon(self.phrase, h[15]), b"vault/1/member" + member_id)
                layers.append((key, h[15], b""))
            self.slot(4, number, g, 6, member_id, layers, self.private[number])

    # items
    def policy(self, accessibility=1, device=False, word=0, constraints=(), audit=0, exportable=False, token=None, pin=None, refusing=False, more=None):
        """`pin`: (mode, id of the PIN item). `refusing`: once it has expired. `more`: fields of a later version."""
        listed_constraints = listed([record({1: u32(bit), 2: u32(f)}) for bit, f in constraints]) if constraints else None
        return record({1: u8(accessibility), 2: u8(device), 3: u32(word), 4: listed_constraints, 5: u8(audit),
                       6: u8(exportable), 7: token, 8: record({1: u8(pin[0]), 2: pin[1]}) if pin else None,
                       11: u8(1) if refusing else None, **(more or {})})

    def put_state(self, row, item_id, plaintext, revision=1):
        body = self.seal2("state", self.aad("state", {2: item_id, 15: u64(revision)}), plaintext.ljust(160, b"\x00"))
        self.state[row] = (revision, body)
        self.terms[3, row, b""] = (self.generation, body[-16:])

    def index(self, code, value):
        return hm(derive(self.rk[self.generation], b"vault/1/index"), record({1: u16(code), 2: value}))[:16]

    def blind_values(self, values): return sorted(self.index(c, values[c]) for c in SEARCHABLE if c in values)

    def primary_key(self, kind, values):
        codes = {1: [2, 3], 2: [3, 15, 16, 17, 18, 19, 20], 3: [8, 21, 22, 23, 24, 25, 26, 27, 28], 4: [37, 40, 41],
                 22: [3, 4], 23: [3]}
        if 1 in values:
            del codes[1], codes[2]                         # a password with a name is unique by it
        fields = {c: values.get(c, i64(0) if c in (17, 19) else b"") for c in codes.get(kind, [1])}
        fields |= {12: values.get(12, b""), 13: values.get(13, b"\x00"), 0xFFF0: b"", 0xFFF1: b""}
        pk = record({1: b"pk", 2: u32(kind), 3: record(fields)})
        return hm(derive(self.rk[self.generation], b"vault/1/index"), pk)[:16]

    def class_of(self, accessibility, device): return accessibility + (0x80 if device else 0)

    def put_item(self, kind, attributes, secret=None, policy=None, accessibility=1, device=False, alternatives=None,
                 state=None, expires=None, extra_meta=None, flags=0, version=1, material=1, item_id=None, opens=True, shown=None, former=(), trashed=False,
                 owned=False):
        """`former`: list of (version, what it was, whether that was an entry). `owned`: another item names it by its id.
        `alternatives`: list of (factor numbers, bits of further secrets, those, KDF record of an application password).
        `shown`: what a reader finds, where that is not the stored secret."""
        if self.backup and (device or kind in (19, 20, 22)):
            return None
        item_id, row = item_id or self.rnd(16), self.next_row
        self.next_row += 1
        policy = policy or self.policy(accessibility, device)
        cls = self.class_of(accessibility, device)
        values = {code: value[1:] for code, value in attributes.items()}
        name = self.index(1, values[1]) if 1 in values and not trashed else None
        blind = [] if trashed else self.blind_values(values)
        primary = self.primary_key(kind, values)
        if trashed or owned:
            primary = hm(derive(self.rk[self.generation], b"vault/1/index"), record({1: b"pk", 2: u32(kind), 4: item_id}))[:16]
        flags |= 32 if trashed else 0
        material = 0 if secret is None else material
        flags |= (4 if secret is not None else 0) | (1 if values.get(13) == b"\x01" else 0)
        aad = self.aad("meta", {2: item_id, 4: u32(self.generation), 6: u8(cls), 5: u64(version), 8: u64(row), 9: u32(kind), 10: u32(flags),
                                11: None if expires is None else i64(expires), 12: primary, 13: name,
                                16: u64(material)})
        meta = self.seal2("meta", aad, record({1: record(attributes), 2: policy, **(extra_meta or {})}))
        self.terms[1, row, b""] = (self.generation, meta[-16:])
        self.terms |= {(4, row, value): (self.generation, value) for value in blind}
        self.items.append([row, item_id, kind, primary, name, flags, cls, self.generation, version, material, expires, meta])
        self.blind += [(value, row) for value in blind]
        if secret is not None:
            bound = {2: item_id, 6: u8(cls), 7: sha(policy), 9: u32(kind)}
            dek = self.rnd(32)
            inside = b"\x00" + dek
            if alternatives:
                inside = b"\x01" + listed([self.alternative(dek, bound, *a) for a in alternatives])
            keys = self.seal1(self.ck[cls, self.generation], "vault/1/seal-keys",
                              self.aad("keys", {**bound, 4: u32(self.generation)}), inside)
            sealed = self.seal1(dek, "vault/1/seal-secret",
                                self.aad("secret", {2: item_id, 5: u64(material), 7: bound[7], 9: bound[9]}), secret)
            for old, plain, is_entry in former:
                self.put_former(row, item_id, old, plain, is_entry, bound, self.ck[cls, self.generation])
            self.material[row] = (keys, sealed)
            self.terms[2, row, b""] = (self.generation, keys[-16:] + sealed[-16:])
        if state is not None:
            self.put_state(row, item_id, state)
        self.expected.append({"id": item_id.hex(), "kind": kind, "name": values[1].decode() if 1 in values else None,
                              "secretBase64": None if secret is None else base64.b64encode(shown or secret).decode(),
                              "class": cls, "opens": opens if secret is not None else False})
        return item_id

    def put_former(self, row, item_id, version, plain, is_entry, bound, class_key):
        dek = self.rnd(32)
        keys = self.seal1(class_key, "vault/1/seal-keys", self.aad("keys", {**bound, 4: u32(self.generation)}), b"\x00" + dek)
        sealed = self.seal1(dek, "vault/1/seal-secret", self.aad("secret", {2: item_id, 5: u64(version), 7: bound[7], 9: bound[9]}), plain)
        meta = self.seal2("meta", self.aad("former", {2: item_id, 5: u64(version)}), record({1: i64(NOW), 2: u32(16 if is_entry else 0)}))
        self.terms[5, row, u64(version)] = (self.generation, u64(version) + meta[-16:] + keys[-16:] + sealed[-16:])
        self.former.append((row, version, meta, keys, sealed))
        if not self.header_fields[6].endswith(u32(4)):
            self.header_fields[6] += u32(4)

    def alternative(self, dek, bound, factors, bits=0, secrets=(), kdf=None):
        e = derive(dek, b"vault/1/ephemeral" + self.rnd(32))
        E = public(e) if factors else bytes(32)
        joined, halves = b"".join(u32(f) for f in factors), b"".join(self.factors[f] for f in factors)
        s = b"".join(agree(e, self.factors[f]) for f in factors) + b"".join(secrets)
        info = sha(record({1: bound[2], 2: bound[7], 3: joined, 4: E, 5: halves, 6: u8(bits)}))
        kek = derive(s, b"vault/1/alternative" + info)
        sealed = self.seal1(kek, "vault/1/seal-alternative", self.aad("alternative", bound), dek)
        return record({1: joined, 2: E, 3: kdf, 4: sealed, 5: u8(bits), 9: b"of a later version"})

    # audit
    def start_segment(self):
        number, previous = (self.segments[-1][0] if self.segments else 0) + 1, self.last_mac
        self.k_a, self.next_c = hm(self.next_c, b"vault/1/audit-segment"), hm(self.next_c, b"vault/1/audit-chain")
        self.last_mac = sha(b"vault/1/audit-anchor" + u64(number) + u64(self.sequence) + previous)
        self.segments.append((number, self.sequence, previous, b""))

    def new_audit_root(self):
        """As setting a passcode does: the next entry begins a segment under a root of its own."""
        self.next_c = self.roots[self.segments[-1][0] + 1] = self.rnd(32)
        self.seal_slots_again()

    def log(self, operation, result=0, item=None, kind=None, detail=None, outcome=None):
        if not self.segments or self.sequence - self.segments[-1][1] == 4096 or self.segments[-1][0] + 1 in self.roots:
            self.start_segment()
        entry = record({1: i64(NOW), 2: u64(5000), 3: BOOT_ID, 4: u32(1000), 5: u32(4711), 6: b"/usr/bin/vaultctl",
                        7: u16(operation), 8: item, 9: None if kind is None else u32(kind), 10: u16(result),
                        11: detail, 12: None if outcome is None else u8(outcome), 40: b"of a later version"})
        body = self.seal2("audit", self.aad("audit", {17: u64(self.sequence)}), entry)
        self.last_mac = hm(self.k_a, self.last_mac + u64(self.sequence) + sha(entry))
        self.audit.append((self.sequence, body, self.last_mac))
        self.k_a = hm(self.k_a, b"vault/1/audit-next")
        self.sequence += 1

    def make_log_empty(self):
        self.start_segment()
        self.segments, self.audit = self.segments[-1:], []

    def keep_newest_segments(self):
        self.segments = self.segments[-64:]
        oldest, first = self.segments[0][:2]
        self.audit = [entry for entry in self.audit if entry[0] >= first]
        start = max(f for f in self.roots if f <= oldest)
        self.roots = {f: root for f, root in self.roots.items() if f >= start}
        self.seal_slots_again()

    # the two rows that bind all others
    def sum(self):
        total = 0
        for (table, row, _), (generation, tags) in self.terms.items():
            total += int.from_bytes(hm(derive(self.rk[generation], b"vault/1/sum"), u8(table) + u64(row) + tags), "big")
        return (total % 2 ** 256).to_bytes(32, "big")

    def head_fields(self):
        """Offset to bytes, section 8."""
        return {0: u16(2), 8: u64(self.config), 16: u64(self.sequence - 1), 24: u64(self.next_row), 32: u64(len(self.items)),
                40: u64(len(self.terms)), 48: self.sum(), 80: u64(0), 88: u64(self.sequence), 96: u64(self.segments[-1][0]),
                104: u64(self.segments[-1][1]), 112: self.k_a, 144: self.last_mac, 176: i64(NOW),
                184: u64(self.seals2 + 1), 200: self.next_c, 256: bytes(15) + b"\1" + u64(5000),
                280: i64(NOW + 20_000_000) + bytes(15) + b"\1" + u64(4000)}

    def head_row(self):
        plain = bytearray(320)
        for offset, value in self.head_fields().items():
            plain[offset:offset + len(value)] = value
        assert len(plain) == 320
        return self.seal2("head", self.aad("head", {}), bytes(plain))

    def header_row(self):
        body = record(self.header_fields)
        slots = listed([record({1: u64(s[0]), 2: u8(s[1]), 3: u32(s[2]), 4: u32(s[3]), 5: u8(s[4]), 6: s[5], 7: s[6]})
                        for s in self.slots])
        return body, hm(derive(self.rk[self.generation], b"vault/1/header"), record({1: body, 2: slots}))

    def write(self, path):
        for name in (path, path + "-wal", path + "-shm"):
            if os.path.exists(name):
                os.unlink(name)
        db = sqlite3.connect(path, isolation_level=None)
        for pragma in ("page_size=4096", "encoding='UTF-8'", "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
            db.execute("PRAGMA " + pragma)
        db.execute("BEGIN IMMEDIATE")
        for sql in TABLES + ([FORMER] if self.former else []):
            db.execute(sql)
        db.executemany("INSERT INTO former VALUES(?,?,?,?,?)", self.former) if self.former else None
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
                "applicationPassword": "app password", "pin": "2580", "session": self.session.hex(), "items": self.expected}


def make(path, entries=0, small=False, maker=None, **options):
    maker = maker or Maker(**options)
    maker.put_few() if small else maker.put_every_kind()
    maker.log(1)
    for item in maker.items:
        maker.log(9, item=item[1], kind=item[2])
    if not small:
        maker.log(999, result=3, detail="an operation of a later version".encode())
    while len(maker.audit) < entries:
        maker.log(13)
    if maker.backup:
        maker.make_log_empty()
    maker.write(path)
    return maker


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write a test vault from the specification.")
    parser.add_argument("vault")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--passcode", type=str.encode)
    parser.add_argument("--backup", type=str.encode, metavar="PASSPHRASE")
    parser.add_argument("--no-recovery", action="store_true")
    parser.add_argument("--no-members", action="store_true")
    parser.add_argument("--standard-kdf", action="store_true")
    parser.add_argument("--small", action="store_true", help="three items, for docs/format/example.md")
    parser.add_argument("--entries", type=int, default=0, help="at least so many audit entries")
    options = parser.parse_args()
    make(options.vault, options.entries, options.small, seed=options.seed, passcode=options.passcode, backup=options.backup,
         recovery=not options.no_recovery, standard_kdf=options.standard_kdf,
         members=() if options.no_members else ("phrase", "fprintd"))
