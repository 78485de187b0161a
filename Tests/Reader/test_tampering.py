"""A change by someone without a key, anywhere in the file, is seen; so is an old row put back."""
import os
import random
import shutil
import sqlite3
import unittest

import make_vault
from cases import Case, reader

BLOBS = {"header": ["body", "mac"], "slot": ["opener_id", "body"], "head": ["body"], "material": ["keys", "secret"],
         "item": ["id", "primary_key", "name", "meta"], "state": ["body"], "blind": ["value"],
         "segment": ["previous", "start"], "audit": ["body", "mac"]}
NUMBERS = {"slot": ["id", "kind", "subject", "generation", "opener"], "material": ["row"], "state": ["row", "revision"],
           "item": ["row", "kind", "flags", "class", "generation", "version", "material", "expires"], "blind": ["row"],
           "segment": ["number", "first"], "audit": ["sequence"]}


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
                        opens = self.maker.expected[where - 1]["opens"] if table == "material" else True
                        opens = opens in (True, "entry", "trash") or opens
                        if opens is not True and (column == "secret" or opens == "later"):
                            at = len(blob) - 1             # the sum covers tags; the rest of what is not opened is not read
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
            for table, rest in (("state", "revision, body"), ("material", "keys, secret")):
                yield [f"INSERT INTO {table} SELECT 4000, {rest} FROM {table} WHERE row = 7"]
            yield ["INSERT INTO blind SELECT value, 4000 FROM blind WHERE row = 1"]
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

    def test_a_table_that_a_later_version_adds(self):
        self.make(small=True)
        self.sql("CREATE TABLE former(x)")
        self.refused("newer format", 15)
        self.make(small=True)
        self.sql(make_vault.FORMER)
        self.refused("table of former secrets", 10)

    def test_former_secrets_that_were_changed(self):
        for change in ("DELETE FROM former WHERE version = 3", "UPDATE former SET version = 4 WHERE version = 3", "UPDATE former SET row = 1",
                       "UPDATE former SET version = version + 90", "DROP TABLE former", "INSERT INTO former SELECT 999, 1, meta, keys, secret FROM former LIMIT 1"):
            self.make()
            self.sql(change)
            with self.assertRaises(reader.Failure, msg=change) as caught:
                self.read()
            self.assertEqual(caught.exception.code, 10, change)
        self.make(small=True)
        self.sql("CREATE VIEW former AS SELECT 1")
        self.refused("schema", 10)

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


if __name__ == "__main__":
    unittest.main()
