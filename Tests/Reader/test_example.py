"""docs/format/example.vault and example.md: the committed vault is the writer's, and every value on the page is right."""
import os
import re
import shutil
import sqlite3
import unittest

import make_example
import make_vault
from cases import Case


def rows(path):
    db = sqlite3.connect(path)
    try:
        return {t: db.execute(f"SELECT * FROM {t} ORDER BY 1").fetchall() for t in make_example.reader.SCHEMA}
    finally:
        db.close()


class Example(Case):
    def setUp(self):
        super().setUp()
        for rest in ("", ".key"):                          # SQLite may write beside a vault; not beside the committed one
            shutil.copy(os.path.join(make_example.FORMAT, "example.vault" + rest), self.path + rest)
        self.key = self.bytes_of(self.path + ".key")
        with open(os.path.join(make_example.FORMAT, "example.md"), encoding="utf-8") as f:
            self.page = f.read()

    def values(self):
        """The (name, value) pairs of the page, in its order."""
        pairs, fence = [], None
        for line in self.page.splitlines():
            if line.startswith("```"):
                fence = None if fence is not None else line[3:]
            elif fence == "" and " = " in line:
                pairs.append([part.strip() for part in line.rsplit(" = ", 1)])
            elif fence == "":
                pairs[-1][1] += line.strip()
        return pairs

    def test_the_committed_vault_is_what_the_writer_makes_of_its_seed(self):
        fresh = os.path.join(self.folder, "fresh.vault")
        maker = make_example.write(fresh)
        self.assertEqual(self.key, maker.device_key)
        self.assertEqual(rows(self.path), rows(fresh))

    def test_the_page_is_what_the_reader_finds_in_the_committed_vault(self):
        self.assertEqual(make_example.render(self.path, self.key).splitlines(), self.page.splitlines())

    def test_every_key_on_the_page_is_the_writers_own(self):
        maker = make_example.write(os.path.join(self.folder, "fresh.vault"))
        found = dict(reversed(self.values()))              # the first of a name
        rk, factors = maker.rk[1], maker.private
        kdf = maker.header_fields[11]
        p = maker.argon(b"example passcode", kdf)
        expected = {"DK": maker.device_key, "key id": maker.key_id, "RK": rk, "LK": maker.lk[1], "P": p,
                    "K_slot_device": make_vault.derive(rk + maker.lk[1], b"vault/1/slot-device"),
                    "K_unlock": maker.k_unlock, "K_prompt": maker.k_prompt, "audit root 1": maker.roots[1], "T": maker.trust, "C_1": maker.roots[1],
                    "factor MAC": maker.header_fields[16], "S": maker.sum(), "last audit MAC": maker.last_mac,
                    "C_2": maker.next_c, "C of segment 2": maker.next_c, "audit.mac": maker.audit[0][2],
                    "header.mac": maker.header_row()[1], "primary_key": maker.items[0][3], "name": maker.items[0][4]}
        for purpose in ("header", "index", "sum", "meta", "state", "head", "audit", "slot"):
            name = {"header": "hdr", "index": "idx"}.get(purpose, purpose)
            expected["K_" + name] = make_vault.derive(rk, b"vault/1/" + purpose.encode())
            if purpose in ("meta", "state", "head", "audit"):
                expected[f"K_{purpose}-nonce"] = make_vault.derive(rk, f"vault/1/{purpose}-nonce".encode())
        expected |= {f"CK[{c:#04x}]": key for (c, _), key in maker.ck.items()}
        expected |= {f"factor {f:#010x}": key for f, key in factors.items()}
        for name, value in expected.items():
            self.assertEqual(found.get(name), value.hex() or "(empty)", name)
        self.assertEqual((found["memory, KiB"], found["passes"], found["lanes"]), ("65536", "3", "4"))

    def test_every_seal_on_the_page_is_one_that_the_writer_made(self):
        maker = make_example.write(os.path.join(self.folder, "fresh.vault"))
        made = {(aad.hex(), plain.hex(), blob[-16:].hex()) for _, aad, plain, blob in maker.sealed}
        values, seals = self.values(), []
        for at, (name, value) in enumerate(values):
            if name == "aad":
                rest = values[at + 1:]
                seals.append((value, *(next(v for n, v in rest if n == wanted) for wanted in ("plaintext", "tag"))))
        self.assertEqual(len(seals), 10)
        for seal in seals:
            self.assertIn(seal, made)

    def test_its_secrets_open_from_the_command_line(self):
        done = self.run_reader(self.path, "--device-key", self.path + ".key", "--secrets", passcode=b"example passcode")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(len(re.findall(rb"Y29ycmVjdCBob3JzZQ==|cmVhZCBtZSB3aGlsZSBsb2NrZWQ=|MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=", done.stdout)), 3)


if __name__ == "__main__":
    unittest.main()
