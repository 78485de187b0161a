#!/usr/bin/python3
"""Writer → reader round trips and tampering, both made from docs/format/vault-file.md alone.

    python3 Tests/Reader/test_reader.py        (Debian's python3-cryptography and python3-argon2)
"""
import base64
import importlib.util
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
READER = os.path.join(HERE, "..", "..", "docs", "format", "open_vault.py")
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import make_vault  # noqa: E402

spec = importlib.util.spec_from_file_location("open_vault", READER)
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)

PASSCODE = "grün 1".encode()
BLOBS = {"header": ["body", "mac"], "slot": ["opener_id", "body"], "head": ["body"], "material": ["keys", "secret"],
         "item": ["id", "primary_key", "name", "meta"], "state": ["body"], "blind": ["value"],
         "segment": ["previous", "start"], "audit": ["body", "mac"]}
NUMBERS = {"slot": ["id", "kind", "subject", "generation", "opener"], "material": ["row"], "state": ["row", "revision"],
           "item": ["row", "kind", "flags", "class", "generation", "version", "material", "expires"], "blind": ["row"],
           "segment": ["number", "first"], "audit": ["sequence"]}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "a.vault")

    def make(self, passcode=PASSCODE, entries=0, **options):
        self.maker = make_vault.make(self.path, passcode=passcode, entries=entries, **options)
        return self.maker

    def read(self, path=None, **keys):
        keys = keys or {"device_key": self.maker.device_key, "passcode": self.maker.passcode}
        return reader.Vault(path or self.path, **keys).out

    def refused(self, message, code=10, **keys):
        with self.assertRaises(reader.Failure) as caught:
            self.read(**keys)
        self.assertIn(message, str(caught.exception))
        self.assertEqual(caught.exception.code, code)

    def sql(self, *statements, path=None):
        db = sqlite3.connect(path or self.path, isolation_level=None, timeout=1)
        for statement in statements:
            db.execute(*(statement if isinstance(statement, tuple) else (statement,)))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()

    def bytes_of(self, path):
        with open(path, "rb") as f:
            return f.read()

    def run_reader(self, *arguments, **channels):
        for name, secret in channels.items():
            r, w = os.pipe()
            os.write(w, secret)
            os.close(w)
            arguments += (f"--{name}-fd", str(r))
            channels[name] = r
        done = subprocess.run([sys.executable, READER, *arguments], capture_output=True, pass_fds=list(channels.values()))
        for r in channels.values():
            os.close(r)
        return done


class RoundTrips(Case):
    def check_items(self, out, opens):
        items = {i["id"]: i for i in out["items"]}
        self.assertEqual(len(items), len(self.maker.expected))
        for expected in self.maker.expected:
            found = items[expected["id"]]
            self.assertEqual((found["kind"], found["name"]), (expected["kind"], expected["name"]))
            self.assertEqual(found.get("secretBase64"), expected["secretBase64"] if opens(expected) else None, found)
            self.assertEqual("secretMissing" in found, not opens(expected))

    def test_without_a_passcode_everything_opens_but_what_other_secrets_guard(self):
        self.make(passcode=None)
        out = self.read()
        self.check_items(out, lambda e: e["opens"])
        self.assertTrue(out["auditVerified"])

    def test_with_the_passcode_the_same(self):
        self.make()
        self.check_items(self.read(), lambda e: e["opens"])

    def test_without_the_passcode_only_after_first_unlock(self):
        self.make()
        out = self.read(device_key=self.maker.device_key)
        self.check_items(out, lambda e: e["opens"] and e["class"] & 0x7F == 2)
        self.assertFalse(out["auditVerified"])

    def test_the_recovery_code_opens_all_but_this_device_only(self):
        self.make()
        out = self.read(recovery=self.maker.recovery_text().lower().encode(), passcode=PASSCODE)
        self.check_items(out, lambda e: e["opens"] and not e["class"] & 0x80)

    def test_a_second_segment_follows_the_first(self):
        self.make(entries=4100)
        self.assertEqual(len(self.maker.segments), 2)
        out = self.read()
        self.assertTrue(out["auditVerified"])
        self.assertEqual([e["sequence"] for e in out["audit"]], list(range(1, 4101)))

    def test_the_standard_derivation_opens(self):
        self.make(standard_kdf=True)
        self.assertFalse(self.read()["testMade"])

    def test_types_and_unknown_codes_are_kept(self):
        self.make()
        items = {i["name"]: i for i in self.read()["items"]}
        mail = {a["code"]: a for a in items["mail"]["attributes"]}
        self.assertEqual(mail[9000], {"code": 9000, "attribute": "unknown", "type": "bytes", "value": "AP8="})
        self.assertEqual(items["mail"]["unknownMetaFields"], [9])
        self.assertEqual(items["a kind of later"]["kind"], 777)
        self.assertEqual(items["rfc"]["state"]["counter"], 7)

    def test_the_same_seed_gives_the_same_rows(self):
        first, second = (make_vault.Maker(5, PASSCODE) for _ in range(2))
        for maker in (first, second):
            maker.put_every_kind()
            maker.log(1)
        self.assertEqual((first.items, first.slots, first.head_row()), (second.items, second.slots, second.head_row()))

    def test_the_command_prints_json_and_writes_nothing(self):
        self.make()
        before = self.bytes_of(self.path)
        done = self.run_reader(self.path, "--device-key", self.path + ".key", "--json", passcode=PASSCODE + b"\n")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.check_items(json.loads(done.stdout), lambda e: e["opens"])
        self.assertEqual(self.bytes_of(self.path), before)

    def test_a_listing_shows_secrets_only_when_asked(self):
        self.make()
        secret = base64.b64encode(b"correct horse\x00\n")
        arguments = (self.path, "--device-key", self.path + ".key")
        self.assertNotIn(secret, self.run_reader(*arguments, passcode=PASSCODE).stdout)
        self.assertIn(secret, self.run_reader(*arguments, "--secrets", passcode=PASSCODE).stdout)



class WrongKeys(Case):
    def test_each_wrong_key_has_its_own_answer(self):
        self.make()
        key, code = self.maker.device_key, self.maker.recovery_text().encode()
        self.refused("wrong device key", 11, device_key=bytes(32))
        self.refused("32 bytes", 11, device_key=bytes(31))
        self.refused("wrong passcode", 3, device_key=key, passcode=b"other")
        self.refused("mistyped", 3, recovery=code[:-1] + (b"A" if code[-1:] != b"A" else b"B"))
        other = make_vault.Maker(99).recovery_text().encode()
        self.refused("not the recovery code of this vault", 3, recovery=other)
        self.refused("needed", 2, passcode=PASSCODE)

    def test_files_that_are_no_vault(self):
        self.make()
        data = self.bytes_of(self.path)
        for name, content, code in (("empty", b"", 10), ("text", b"hello" * 999, 10), ("half", data[:len(data) // 2], 10)):
            path = os.path.join(self.folder, name)
            with open(path, "wb") as f:
                f.write(content)
            done = self.run_reader(path, "--device-key", self.path + ".key")
            self.assertEqual((done.returncode, done.stdout, done.stderr.count(b"\n")), (code, b"", 1), done.stderr)
        self.assertEqual(self.run_reader(self.path + "x", "--device-key", self.path + ".key").returncode, 14)


class Records(unittest.TestCase):
    def test_only_strictly_ascending_fields_without_a_rest(self):
        one, two = b"\0\1\0\0\0\1a", b"\0\2\0\0\0\0"
        self.assertEqual(reader.decode(one + two, "r"), {1: b"a", 2: b""})
        self.assertEqual(reader.decode(b"", "r"), {})
        for bad in (two + one, one + one, one + b"\0", one[:-1], one + two[:5], b"\0"):
            with self.assertRaises(reader.Failure):
                reader.decode(bad, "r")
        with self.assertRaises(reader.Failure):
            reader.items_of(two, "a list that starts at 2")


class Tampering(Case):
    def each_change(self, changes, allowed):
        """Applies one SQL change at a time to a fresh copy; every one must be refused, with an allowed exit code."""
        self.make()
        fresh, original, count = self.path + ".fresh", self.path, 0
        shutil.copy(self.path, fresh)
        for change in changes(sqlite3.connect(fresh)):
            for rest in ("-wal", "-shm"):
                if os.path.exists(original + rest):
                    os.unlink(original + rest)
            shutil.copy(fresh, original)
            self.sql(*change)
            try:
                self.read()
            except reader.Failure as failure:
                self.assertIn(failure.code, allowed, f"{change}: {failure}")
            else:
                self.fail(f"not seen: {change}")
            count += 1
        return count

    def test_a_flip_in_any_stored_value(self):
        dice = random.Random(7)

        def changes(db):
            for table, columns in BLOBS.items():
                key = "value" if table == "blind" else db.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchone()[0]
                for column in columns:
                    for where, blob in db.execute(f"SELECT {key}, {column} FROM {table} WHERE length({column}) > 0").fetchall():
                        at = dice.randrange(len(blob))
                        if column == "secret" and not self.maker.expected[where - 1]["opens"]:
                            at = len(blob) - 1             # the sum covers tags; the rest of an unopened secret is not read
                        changed = blob[:at] + bytes([blob[at] ^ (1 << dice.randrange(8))]) + blob[at + 1:]
                        yield [(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (changed, where))]

        self.assertGreater(self.each_change(changes, {3, 10, 11, 15}), 200)

    def test_another_number_in_any_column(self):
        def changes(db):
            for table, columns in NUMBERS.items():
                for column in columns:
                    for step in (1000, -1000000, 1 << 33):
                        one = (f"WHERE rowid = (SELECT max(rowid) FROM {table} WHERE {column} IS NULL OR {column} != 0)"
                               if table != "blind" else "WHERE row = 5")
                        yield [f"UPDATE {table} SET {column} = coalesce({column}, 0) + {step} {one}"]

        self.assertGreater(self.each_change(changes, {10, 11, 15}), 50)

    def test_a_deleted_row_of_any_table(self):
        def changes(db):
            for table in BLOBS:
                for (row,) in db.execute(f"SELECT {'row' if table == 'blind' else 'rowid'} FROM {table} LIMIT 40").fetchall():
                    yield [f"DELETE FROM {table} WHERE {'row' if table == 'blind' else 'rowid'} = {row}"]

        self.assertGreater(self.each_change(changes, {10, 11}), 100)

    def test_swaps(self):
        def swap(table, column, a, b):
            db = sqlite3.connect(self.path + ".fresh")
            get = lambda k: db.execute(f"SELECT {column} FROM {table} WHERE rowid = {k}").fetchone()[0]
            x, y = get(a), get(b)
            put = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
            return [(put, (os.urandom(16) if column in ("id", "primary_key", "name") else x, b)), (put, (y, a)), (put, (x, b))]

        def changes(db):
            for table, column, a, b in (
                    ("item", "meta", 1, 3), ("item", "id", 1, 3), ("item", "primary_key", 1, 3), ("item", "name", 1, 3),
                    ("material", "keys", 1, 7), ("material", "secret", 1, 7), ("state", "body", 7, 8), ("state", "body", 0, 7),
                    ("slot", "body", 1, 2), ("slot", "body", 4, 6), ("slot", "body", 10, 11), ("audit", "body", 3, 4), ("audit", "mac", 3, 4)):
                yield swap(table, column, a, b)
            for table in ("material", "state", "audit"):
                key = "sequence" if table == "audit" else "row"
                yield [f"UPDATE {table} SET {key} = -1 WHERE {key} = 7", f"UPDATE {table} SET {key} = 7 WHERE {key} = 8",
                       f"UPDATE {table} SET {key} = 8 WHERE {key} = -1"]

        self.each_change(changes, {10})

    def test_added_rows(self):
        def changes(db):
            yield [("INSERT INTO blind VALUES(?, 1)", (bytes(16),))]
            yield ["INSERT INTO blind SELECT value, 3 FROM blind WHERE row = 1 LIMIT 1"]
            yield ["INSERT INTO state SELECT 3, revision, body FROM state WHERE row = 7"]
            yield ["INSERT INTO material SELECT 3, keys, secret FROM material WHERE row = 7"]
            yield ["INSERT INTO slot SELECT 99, kind, subject, generation, opener, opener_id, body FROM slot WHERE id = 4"]
            yield ["INSERT INTO audit SELECT 5000, body, mac FROM audit WHERE sequence = 1"]

        self.each_change(changes, {10})

    def test_another_schema(self):
        def changes(db):
            yield ["CREATE VIEW v AS SELECT 1"]
            yield ["CREATE INDEX i ON item(kind)"]
            yield ["CREATE TABLE more(x)"]
            yield ["CREATE TRIGGER t AFTER UPDATE ON state BEGIN SELECT 1; END"]
            yield ["ALTER TABLE state RENAME COLUMN body TO bodies"]
            yield ["PRAGMA application_id = 1"]
            yield ["PRAGMA user_version = 0"]

        self.each_change(changes, {10})
        self.make()
        self.sql("PRAGMA user_version = 2")
        self.refused("newer format", 15)

    def test_a_required_feature_is_refused(self):
        maker = self.make()
        maker.header_fields[6] = (7).to_bytes(4, "big")
        maker.write(self.path)
        self.refused("required features 00000007", 15)


class OldRowsBack(Case):
    def pair(self, change):
        """The vault before and after `change`, two files."""
        maker, old = self.make(), self.path + ".old"
        shutil.copy(self.path, old)
        change(maker)
        maker.log(11)
        maker.write(self.path)
        self.read()
        self.sql(("ATTACH ? AS old", (old,)), *self.transplant)

    def counter(self, maker):
        maker.terms.remove(b"\x03" + (7).to_bytes(8, "big") + maker.state[7][1][-16:])
        maker.put_state(7, maker.items[6][1], b"\x01" + bytes(14) + b"\x08", revision=2)

    def test_an_old_counter(self):
        self.transplant = ["UPDATE state SET (revision, body) = (SELECT revision, body FROM old.state WHERE row = 7) WHERE row = 7"]
        self.pair(self.counter)
        self.refused("the sum over all rows differs")

    def test_an_old_item(self):
        def update(maker):
            row = maker.items[0]
            maker.terms = [t for t in maker.terms if t[1:9] != (1).to_bytes(8, "big")]
            maker.items, maker.blind = maker.items[1:], [b for b in maker.blind if b[1] != 1]
            following, maker.next_row = maker.next_row, 1
            attributes = {1: make_vault.string("mail"), 2: make_vault.string("mail.example"), 3: make_vault.string("anna"),
                          4: make_vault.string("Mail")}
            maker.put_item(1, attributes, b"new password", item_id=row[1], version=2, material=2)
            maker.next_row = following

        columns = "version, material, meta"
        self.transplant = [f"UPDATE item SET ({columns}) = (SELECT {columns} FROM old.item WHERE row = 1) WHERE row = 1"]
        self.transplant.append("UPDATE material SET (keys, secret) = (SELECT keys, secret FROM old.material WHERE row = 1) WHERE row = 1")
        self.pair(update)
        self.refused("the sum over all rows differs")
        self.transplant.pop(0)                             # the old secret alone is bound to its version
        self.pair(update)
        self.refused("secret of item")

    def test_an_old_head_row(self):
        self.transplant = ["UPDATE head SET body = (SELECT body FROM old.head)"]
        self.pair(self.counter)
        self.refused("the sum over all rows differs")

    def test_an_old_header_with_its_slots(self):
        def reconfigure(maker):
            maker.config = 2
            maker.header_fields[4] = (2).to_bytes(8, "big")

        self.transplant = ["UPDATE header SET (body, mac) = (SELECT body, mac FROM old.header)"]
        self.pair(reconfigure)
        self.refused("config of head row and header differ")


class Audit(Case):
    def test_who_holds_the_root_key_and_not_the_chain_is_seen(self):
        maker = self.make(entries=100)
        entry = make_vault.record({1: bytes(8), 7: b"\0\x09"})
        body = maker.seal2("audit", maker.aad("audit", {17: (50).to_bytes(8, "big")}), entry)
        self.sql(("UPDATE audit SET body = ? WHERE sequence = 50", (body,)))
        self.refused("audit entry 50, MAC")
        self.assertFalse(self.read(device_key=maker.device_key)["auditVerified"])

    def test_a_log_cut_off_at_its_end_is_seen(self):
        self.make(entries=100)
        self.sql("DELETE FROM audit WHERE sequence > 90")
        self.refused("entries are missing")

    @unittest.expectedFailure                              # section 9 as written: `start` proves nothing about who made it
    def test_a_thief_of_vault_and_device_key_cannot_rewrite_the_history(self):
        maker = self.make(entries=100)
        maker.segments, maker.audit, maker.sequence, maker.last_mac = [], [], 1, bytes(32)
        for _ in range(100):                               # nothing here needs the passcode
            maker.log(10, detail=b"a history that never was")
        maker.write(self.path)
        self.refused("audit")


if __name__ == "__main__":
    unittest.main()
