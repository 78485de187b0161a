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
            out = self.open(folder, "guarded.backup", passphrase=passphrase, passcode=passcode)
            self.check(out, expected, device=False)

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
