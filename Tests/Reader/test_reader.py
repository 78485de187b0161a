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

    def make(self, entries=0, small=False, maker=make_vault.Maker, passcode=PASSCODE, **options):
        self.maker = make_vault.make(self.path, entries, small, maker(passcode=passcode, **options))
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


def always(expected): return expected["opens"] is True


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
        self.check_items(out, always)
        self.assertTrue(out["auditVerified"])

    def test_with_the_passcode_the_same(self):
        self.make()
        self.check_items(self.read(), always)

    def test_without_the_passcode_only_after_first_unlock(self):
        self.make()
        out = self.read(device_key=self.maker.device_key)
        self.check_items(out, lambda e: always(e) and e["class"] & 0x7F == 2)
        self.assertFalse(out["auditVerified"])

    def test_the_phrase_of_a_member_opens_what_its_set_guards(self):
        maker = self.make()
        self.check_items(self.read(device_key=maker.device_key, passcode=PASSCODE, phrase=maker.phrase), lambda e: e["opens"])
        self.refused("wrong phrase", 3, device_key=maker.device_key, passcode=PASSCODE, phrase=b"another phrase")

    def test_a_member_that_a_reader_of_fingers_vouches_for_needs_no_phrase(self):
        self.make(members=("phrase", "fprintd"))
        self.check_items(self.read(), lambda e: e["opens"])

    def test_a_vault_without_members(self):
        self.make(members=())
        self.check_items(self.read(), always)
        self.refused("no member", 2, device_key=self.maker.device_key, phrase=b"a phrase")

    def test_what_does_not_open_says_what_it_needs(self):
        self.make()
        needs = {i["name"]: i.get("secretMissing") for i in self.read()["items"]}
        self.assertEqual(needs["behind pin"], "needs the PIN")
        self.assertEqual(needs["card of a session"], "needs the session")
        self.assertEqual(needs["application password"], "needs the application password")
        self.assertEqual(needs["both"], "needs factor 0x04000001")
        self.assertEqual(needs["all of it"], "needs the application password and the PIN and the session and a secret of a later version")
        self.assertEqual(needs["no data"], "the item has no data")
        locked = {i["name"]: i.get("secretMissing") for i in self.read(device_key=self.maker.device_key)["items"]}
        self.assertEqual(locked["mail"], "locked: needs the passcode")
        code = self.maker.recovery_text().encode()
        recovered = {i["name"]: i.get("secretMissing") for i in self.read(recovery=code, passcode=PASSCODE)["items"]}
        self.assertEqual(recovered["client key"], "this-device-only: needs the device key")

    def test_a_factor_that_is_gone_is_named(self):
        maker = self.make(small=True)
        maker.factor(make_vault.SET + 7)                   # in no header: its set was replaced
        maker.put_item(1, {1: make_vault.string("stale"), 2: make_vault.string("a set")}, b"lost", opens=False,
                       alternatives=[([make_vault.SET + 7],), ([make_vault.PASSCODE, make_vault.SET + 7], 1, [b""], b"no KDF record")])
        maker.write(self.path)
        self.assertEqual(self.read()["items"][-1]["secretMissing"], "needs factor 0x04000007, which is gone, or "
                         "factor 0x04000007, which is gone and the application password")

    def test_the_recovery_code_opens_all_but_this_device_only(self):
        self.make()
        out = self.read(recovery=self.maker.recovery_text().lower().encode(), passcode=PASSCODE)
        self.check_items(out, lambda e: always(e) and not e["class"] & 0x80)
        self.assertTrue(out["auditVerified"])

    def test_a_backup_opens_with_its_passphrase_alone(self):
        for passcode in (None, PASSCODE):
            maker = self.make(passcode=passcode, backup=b"a passphrase")
            out = self.read(passphrase=b"a passphrase", passcode=passcode)
            self.check_items(out, always)
            self.assertTrue(out["backup"] and out["auditVerified"])
            self.assertFalse([i for i in out["items"] if i["kind"] in (19, 20) or i["policy"]["thisDeviceOnly"]])
            self.refused("wrong passphrase", 3, passphrase=b"another")
            self.refused("--passphrase-fd", 2, device_key=maker.device_key)
        done = self.run_reader(self.path, "--json", passphrase=b"a passphrase\n", passcode=PASSCODE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def rotating(self, members=("phrase", "fprintd")):
        maker = self.maker = make_vault.Maker(passcode=PASSCODE, members=members)
        maker.put_few()
        maker.log(1)
        maker.rotate()
        maker.put_item(1, {1: make_vault.string("new"), 2: make_vault.string("of generation 2")}, b"secret of generation 2")
        maker.put_item(3, {1: make_vault.string("new key")}, b"PKCS8", device=True)
        maker.put_item(16, {1: make_vault.string("new code")}, b"key", state=b"\1")
        maker.log(22)
        maker.write(self.path)
        return maker

    def test_two_generations_during_an_epoch_rotation(self):
        self.rotating()
        out = self.read()
        self.assertEqual((out["generation"], len(out["audit"]), out["auditVerified"]), (2, 2, True))
        self.check_items(out, always)
        self.check_items(self.read(recovery=self.maker.recovery_text().encode(), passcode=PASSCODE),
                         lambda e: always(e) and not e["class"] & 0x80)

    def test_a_generation_that_the_header_does_not_name(self):
        maker = self.rotating(members=())
        del maker.header_fields[8]
        maker.write(self.path)
        self.refused("unknown generation")
        maker.slots = [s for s in maker.slots if s[3] == 2]
        maker.write(self.path)
        self.refused("generation 1 is not one of this vault")

    def test_a_second_segment_follows_the_first(self):
        self.make(entries=4100)
        self.assertEqual(len(self.maker.segments), 2)
        out = self.read()
        self.assertTrue(out["auditVerified"])
        self.assertEqual([e["sequence"] for e in out["audit"]], list(range(1, 4101)))

    def test_a_new_audit_root_begins_a_segment_and_old_segments_go(self):
        maker = self.make(small=True, entries=4097)        # segment 2 hangs on the root of segment 1
        for number in range(3, 66):
            maker.new_audit_root()
            if number == 3:
                maker.write(self.path)                     # the root is there, its first entry is not
                self.assertTrue(self.read()["auditVerified"])
            maker.log(4)
        maker.keep_newest_segments()
        self.assertEqual((maker.segments[0][:2], min(maker.roots)), ((2, 4097), 1))
        maker.write(self.path)
        out = self.read()
        self.assertEqual((out["audit"][0]["sequence"], len(out["audit"]), out["auditVerified"]), (4097, 64, True))

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
        self.check_items(json.loads(done.stdout), always)
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
        self.refused("1 to 1,024 bytes", 2, device_key=key, passcode=b"")
        self.refused("1 to 1,024 bytes", 2, device_key=key, passcode=b"a\0b")
        self.make(passcode=None)
        self.refused("has none", 2, device_key=key, passcode=PASSCODE)

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
                        if column == "secret" and not self.maker.expected[where - 1]["opens"] is True:
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
            yield ["UPDATE segment SET start = x'00'"]
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
        maker.put_state(7, maker.items[6][1], b"\x01" + bytes(14) + b"\x08", revision=2)

    def test_an_old_counter(self):
        self.transplant = ["UPDATE state SET (revision, body) = (SELECT revision, body FROM old.state WHERE row = 7) WHERE row = 7"]
        self.pair(self.counter)
        self.refused("the sum over all rows differs")

    def test_an_old_item(self):
        def update(maker):
            row = maker.items[0]
            maker.terms = {t: v for t, v in maker.terms.items() if t[1] != 1}
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


class WrongWriters(Case):
    """Vaults whose writer holds every key and seals well, and gets one thing wrong."""

    def written(self, message, maker, keys=None, code=10, **options):
        self.make(small=True, maker=maker, **options)
        self.refused(message, code, **(keys or {}))

    def test_a_blind_index_that_does_not_follow_from_the_attributes(self):
        class Swapped(make_vault.Maker):
            def blind_values(self, values): return [self.index(c + 1, values[c]) for c in make_vault.SEARCHABLE if c in values]

        class Short(make_vault.Maker):
            def blind_values(self, values): return super().blind_values(values)[1:]

        class Long(make_vault.Maker):
            def blind_values(self, values): return super().blind_values(values) + [bytes(16)]

        for maker in (Swapped, Short, Long):
            self.written("blind index", maker)

    def test_a_name_that_does_not_follow_from_the_attributes(self):
        class Wrong(make_vault.Maker):
            def index(self, code, value): return super().index(code, value + b"x" if code == 1 else value)

        self.written("name", Wrong)

    def test_a_primary_key_that_does_not_follow_from_the_attributes(self):
        class Wrong(make_vault.Maker):
            def primary_key(self, kind, values): return super().primary_key(kind, {**values, 3: b"another account", 1: b"another"})

        self.written("primary key", Wrong)

    def test_the_key_class_is_part_of_a_keys_primary_key(self):
        maker = self.make(small=True)
        common = {21: make_vault.raw(b"label"), 22: make_vault.raw(b"tag")}
        for number in (0, 1):
            maker.put_item(3, {**common, 24: make_vault.integer(number)}, b"PKCS8")
            maker.put_item(3, {**common, 23: make_vault.integer(number)}, b"PKCS8")
        maker.write(self.path)
        self.assertEqual(len(self.read()["items"]), 7)

    def test_a_class_that_is_not_the_policys(self):
        class Weak(make_vault.Maker):
            def class_of(self, accessibility, device): return 2

        class Foreign(make_vault.Maker):
            def class_of(self, accessibility, device): return super().class_of(accessibility, True)

        for maker in (Weak, Foreign):
            self.written("class is not the policy's", maker)

    def test_counts_and_ends_in_the_head_row(self):
        def lying(**lies):
            class Wrong(make_vault.Maker):
                def head_fields(self):
                    fields = super().head_fields()
                    for offset, lie in lies.items():
                        fields[int(offset[1:])] = lie(fields[int(offset[1:])])
                    return fields
            return Wrong

        def add(n): return lambda b: (int.from_bytes(b, "big") + n).to_bytes(len(b), "big")
        def flip(b): return bytes([b[0] ^ 1]) + b[1:]
        for message, lies in (
                ("rows are missing", {"f32": add(1)}), ("rows are missing", {"f32": add(-1)}), ("rows are missing", {"f40": add(1)}),
                ("sum over all rows", {"f48": flip}), ("next row", {"f24": add(-1)}), ("config", {"f8": add(1)}),
                ("entries are missing", {"f88": add(1)}), ("segments are missing", {"f96": add(1)}), ("entries are missing", {"f104": add(1)}),
                ("does not end where", {"f112": flip}), ("does not end where", {"f144": flip}), ("does not end where", {"f200": flip})):
            self.written(message, lying(**lies))

    def test_an_empty_state_where_counters_are_kept(self):
        for row, message in ((3, "has no state"), (0, "no state row 0")):
            maker = self.make(small=True)
            del maker.state[row], maker.terms[3, row, b""]
            maker.write(self.path)
            self.refused(message)

    def test_a_factor_or_recovery_half_that_was_slipped_in(self):
        public = make_vault.public(bytes(range(32)))
        for number, change in ((12, lambda old: public), (13, lambda old: old + (0x0600FFFF).to_bytes(4, "big") + public),
                               (13, lambda old: old[:-32] + public), (16, lambda old: bytes(32)), (16, lambda old: None)):
            maker = self.make(small=True, members=())
            if number == 13 and len(change(maker.header_fields[13])) == len(maker.header_fields[13]):
                maker.slots = [s for s in maker.slots if s[2] != make_vault.ANY]
            maker.header_fields[number] = change(maker.header_fields.get(number))
            maker.write(self.path)
            self.refused("factor MAC")
            self.assertFalse(self.read(device_key=maker.device_key)["unlocked"])

    def test_parameters_of_the_derivation_out_of_bounds(self):
        class Cheap(make_vault.Maker):
            def make_header(self, sources):
                super().make_header(sources)
                del self.header_fields[17]

        self.written("parameters out of bounds", Cheap)


class Audit(Case):
    """The thief has the vault file and the device key, so the root key, and not the passcode."""

    def forge(self, maker, entries):
        for _ in range(entries):
            maker.log(10, detail=b"a history that never was")
        maker.write(self.path)

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

    def test_a_log_cut_off_together_with_its_head_row_is_seen(self):
        maker = self.make(entries=100)
        maker.audit, maker.sequence, maker.last_mac = maker.audit[:90], 91, maker.audit[89][2]
        maker.write(self.path)                             # the chain key stands after entry 100 and cannot go back
        self.refused("does not end where")

    def test_a_rewritten_history_is_seen(self):
        maker = self.make(entries=100)
        maker.segments, maker.audit, maker.sequence, maker.last_mac = [], [], 1, bytes(32)
        maker.next_c = bytes(32)                           # the audit root is sealed under the passcode
        self.forge(maker, 100)
        self.refused("audit entry 1, MAC")

    def test_a_rewritten_history_under_a_root_of_the_thief_is_seen(self):
        maker = self.make(entries=100)
        maker.segments, maker.audit, maker.sequence, maker.last_mac = [], [], 1, bytes(32)
        maker.next_c = maker.roots[1] = bytes(32)
        fifth = next(s for s in maker.slots if s[1] == 5)
        outer = make_vault.derive(maker.rk[1], b"vault/1/slot")
        maker.slot(5, 1, 1, 4, b"", [(outer, None, b"")], maker.next_c)
        fifth[4:] = maker.slots.pop()[4:]
        self.forge(maker, 100)
        self.refused("kind 5 with opener 4")

    def test_a_log_cut_off_and_continued_with_the_next_segments_key_is_seen(self):
        maker = self.make(entries=100)
        maker.audit, maker.sequence, maker.last_mac = maker.audit[:50], 51, maker.audit[49][2]
        maker.start_segment()                              # with C of the head row, which the thief has
        self.forge(maker, 50)
        self.refused("is not whole")
        self.refused("is not whole", device_key=maker.device_key)

    def test_a_root_moved_to_another_segment_is_seen(self):
        maker = self.make(entries=100)
        slot = next(s for s in maker.slots if s[1] == 5)
        slot[2] = 2
        maker.write(self.path)
        self.refused(f"slot {slot[0]}")


if __name__ == "__main__":
    unittest.main()
