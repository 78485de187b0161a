"""The reader, against the vaults that every released version of vaultctl has made (Tests/Fixtures, docs/format/versions.md)."""
import base64
import glob
import hashlib
import hmac
import json
import os
import shutil
import struct
import unittest

from cases import HERE, Case, reader

FIXTURES = sorted(glob.glob(os.path.join(HERE, "..", "Fixtures", "format-*")))


def code(key, counter, digits):
    """RFC 4226 §5.3, so that nothing of ours says what the code is."""
    digest = hmac.digest(key, struct.pack(">Q", counter), hashlib.sha1)
    number = struct.unpack_from(">I", digest, digest[-1] & 15)[0] & 0x7FFFFFFF
    return f"{number % 10 ** digits:0{digits}}"


def content(item):
    """What an entry keeps, as `expected.json` has it; of any other secret its text."""
    if "entry" not in item:
        return base64.b64decode(item["secretBase64"]).decode()
    text = lambda value: base64.b64decode(value).decode()
    entry = item["entry"]
    found = {word: text(entry[word + "Base64"]) for word in ("password", "notes") if word + "Base64" in entry}
    return found | {"fields": [[f["name"], text(f["valueBase64"]), f["hidden"]] for f in entry["fields"]], "addresses": entry["addresses"]}


def code_of(entry, items):
    """The one-time-password credential of an entry, which has no name of its own."""
    item = items[base64.b64decode(next(a["value"] for a in entry["attributes"] if a["attribute"] == "credential")).hex()]
    assert item["kind"] == 16 and item["name"] is None
    return item


class Fixtures(Case):
    def open(self, folder, name, **typed):
        copy = shutil.copy(os.path.join(folder, name), self.folder)
        key = os.path.join(folder, name.removesuffix(".vault") + ".key")
        return reader.Vault(copy, self.bytes_of(key) if name.endswith(".vault") else None, **typed).out

    def word(self, folder, name): return self.bytes_of(os.path.join(folder, name))

    # Verified to fail when the reader prepares no text, when it names no field 13, and on an attribute that it does not know.
    def check(self, out, expected, device=True):
        items = {i["name"]: i for i in out["items"]}
        attributes = {name: {a["attribute"]: a["value"] for a in item["attributes"]} for name, item in items.items()}
        self.assertNotIn("unknown", {a for found in attributes.values() for a in found})
        for name, secret in expected["secrets"].items():
            if device or name not in expected["thisDeviceOnly"]:
                self.assertEqual(items[name]["secretBase64"], secret, name)
        weak, suite, form, client = (expected[k] for k in ("weak", "suite", "formC", "client"))
        self.assertEqual((attributes["weak"]["otpSecretBits"], attributes["weak"]["otpDigits"]), (weak["bits"], weak["digits"]))
        key = base64.b64decode(items["weak"]["secretBase64"])
        self.assertEqual((len(key) * 8, code(key, 59 // 30, weak["digits"])), (weak["bits"], expected["codesAt59"]["weak"]))
        self.assertEqual(attributes[suite["name"]]["ocraSuite"], suite["suite"])
        self.assertEqual({k: attributes[form["name"]][k] for k in ("service", "account")}, {k: form[k] for k in ("service", "account")})
        found = items["client"]["registration"]
        self.assertEqual({k: found.get(k) for k in ("clientId", "issuer", "deviceAuthorizationEndpoint")},
                         {"clientId": client["id"], "issuer": client["issuer"], "deviceAuthorizationEndpoint": client["deviceEndpoint"]})

    # Verified to fail when the reader takes an entry for a password, when it opens no former secret and when it does not say what
    # the trash keeps.
    def check_entries(self, out, expected, guarded=False):
        """Entries, what they were, and what is in the trash, by the names that they have or had."""
        items, ids = {i["name"]: i for i in out["items"]}, {i["id"]: i for i in out["items"]}
        for name, entry in expected["entries"].items():
            self.assertEqual(content(items[name]), entry, name)
        shop, of_shop = expected["shop"], {a["attribute"]: a["value"] for a in items["shop"]["attributes"]}
        self.assertEqual((of_shop["account"], of_shop["server"], of_shop["tags"].split("\n")), (shop["account"], shop["host"], shop["tags"]))
        self.assertEqual(code(base64.b64decode(code_of(items["shop"], ids)["secretBase64"]), 59 // 30, 8), shop["codeAt59"])
        self.assertNotIn("password", content(items["wifi"]))
        made = expected["made"]
        former = expected["former"] | (expected["formerOfGuarded"] if guarded else {})
        former |= {name: trashed["former"] for name, trashed in expected["trash"].items() if "former" in trashed}
        self.assertEqual({i["name"] for i in out["items"] if "former" in i}, set(former))
        for name, versions in former.items():
            self.assertEqual([content(old) for old in items[name]["former"]], versions, name)
            self.assertEqual([old["version"] for old in items[name]["former"]], [*range(1, 1 + len(versions))], name)
            for old in items[name]["former"]:
                self.assertTrue(made["began"] <= old["until"] <= made["ended"], name)
        self.check_trash(items, ids, expected)

    def check_trash(self, items, ids, expected):
        trash, made, kept = expected["trash"], expected["made"], 30 * 86_400_000
        club = code_of(items["club"], ids)
        self.assertEqual({i["id"] for i in ids.values() if "trash" in i}, {items[name]["id"] for name in trash} | {club["id"]})
        for name, what in trash.items():
            item = items[name]
            self.assertTrue(made["began"] <= item["trash"]["until"] - kept <= made["ended"], name)
            self.assertEqual(item["trash"]["expires"], what.get("expires"), name)
            if "secret" in what or "entry" in what:
                self.assertEqual(content(item), what.get("secret", what.get("entry")), name)
            if "counter" in what:
                of = club if name == "club" else item
                key = base64.b64decode(of["secretBase64"])
                self.assertEqual((of["state"]["counter"], code(key, of["state"]["counter"], 6)), (what["counter"], what["code"]), name)
                self.assertTrue("trash" in of and "former" not in of)

    def test_every_fixture_opens_with_what_it_must_hold(self):
        self.assertTrue(FIXTURES)
        for folder in FIXTURES:
            expected = json.loads(self.word(folder, "expected.json"))
            passcode, passphrase = self.word(folder, "passcode"), self.word(folder, "passphrase")
            for name, typed in (("plain.vault", {}), ("rotated.vault", {}), ("guarded.vault", {"passcode": passcode})):
                with self.subTest(folder=folder, name=name):
                    out = self.open(folder, name, **typed)
                    self.assertTrue(out["auditVerified"])
                    self.check(out, expected)
                    self.check_entries(out, expected, guarded=name == "guarded.vault")
            out = self.open(folder, "guarded.backup", passphrase=passphrase, passcode=passcode)
            self.check(out, expected, device=False)
            # `strict` is of that device only.
            self.check_entries(out, expected | {"formerOfGuarded": {"ruled": expected["formerOfGuarded"]["ruled"]}}, guarded=True)

    def test_without_the_passcode_nothing_of_an_entry_opens_but_what_finds_it(self):
        for folder in FIXTURES:
            items = {i["name"]: i for i in self.open(folder, "guarded.vault")["items"]}
            for name in ("shop", "wifi", "grown", "ruled", "club", "gone"):
                item = items[name]
                self.assertEqual([k for k in ("entry", "secretBase64") if k in item], [], name)
                self.assertTrue(all("secretMissing" in old and "entry" not in old and "secretBase64" not in old for old in item.get("former", [])))

    def test_what_was_typed_in_another_form_opens_too(self):
        for folder in FIXTURES:
            typed, other = self.word(folder, "passcode-as-typed"), self.word(folder, "passphrase-as-typed")
            self.assertNotEqual(typed, self.word(folder, "passcode"))
            self.assertTrue(self.open(folder, "guarded.vault", passcode=typed)["unlocked"])
            self.open(folder, "guarded.backup", passphrase=other)
            # What a program that prepares nothing has made opens by its bytes alone.
            out = self.open(folder, "unprepared.vault", passcode=typed)
            self.assertEqual([i["name"] for i in out["items"]], [json.loads(self.word(folder, "expected.json"))["formC"]["typed"]])
            with self.assertRaises(reader.Failure) as caught:
                self.open(folder, "unprepared.vault", passcode=self.word(folder, "passcode"))
            self.assertEqual(caught.exception.code, 3)


if __name__ == "__main__":
    unittest.main()
