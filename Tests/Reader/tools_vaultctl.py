"""Both directions against the tools themselves: vaultctl's vaults for the reader, the writer's and a thief's for vaultctl.

    Tests/Reader/run --tools .build/release

Only the testing tool opens a vault with a cheap derivation (header field 17), as the writer makes them.
"""
import base64
import json
import os
import subprocess
import sys
import unittest

import make_vault
from cases import HERE, PASSCODE, Case, reader
from test_wrong_writers import thefts
from wrong_files import right, wrong

TOOLS = os.environ["TOOLS"]
TOOL, TESTING = os.path.join(TOOLS, "vaultctl"), os.path.join(TOOLS, "vaultctl-testing")
KEY = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


class Vaultctl(Case):
    def setUp(self):
        super().setUp()
        self.passcode, self.key = None, self.path + ".key"     # where the writer puts it
        os.mkdir(os.path.join(self.folder, "elsewhere"))

    def init(self, *arguments):
        self.key = os.path.join(self.folder, "elsewhere", "device.key")
        self.tool("init", *arguments)

    def tool(self, *arguments, stdin=b"", program=None, asks=True, code=0, **typed):
        """Standard output of one command on the vault; the passcode and what else is `typed` come on descriptors of their own."""
        environment = {"HOME": self.folder, "PATH": os.environ["PATH"], "VAULTCTL_PATH": self.path, "VAULTCTL_DEVICE_KEY": self.key}
        descriptors = []
        if self.passcode and asks:
            typed["passcode"] = self.passcode
        for name, secret in typed.items():
            r, w = os.pipe()
            os.write(w, secret)
            os.close(w)
            arguments, descriptors = (*arguments, f"--{name.replace('_', '-')}-fd", str(r)), descriptors + [r]
        done = subprocess.run([os.path.abspath(program or TOOL), *arguments], input=stdin, capture_output=True, env=environment, pass_fds=descriptors)
        for r in descriptors:
            os.close(r)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        return done.stdout

    def expect(self, expected, passcode=None):
        file = os.path.join(self.folder, "expected.json")
        with open(file, "w") as f:
            json.dump(expected, f)
        command = [sys.executable, "-B", os.path.join(HERE, "cross_check.py"), self.path, self.key, "--expect", file]
        done = subprocess.run(command + ["--passcode-fd", "0"] * bool(passcode), input=passcode or b"", capture_output=True, text=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def fill(self):
        big = os.urandom(1 << 20)
        self.tool("add", "mail", "--service", "mail.example", "--account", "anna", "--label", "Mail", stdin=b"a\0b\n")
        self.tool("add", "big", "--service", "big", stdin=big)
        self.tool("add", "always", "--accessible", "after-first-unlock", "--audit", "all", stdin=b"x", asks=False)
        self.tool("add", "here", "--this-device-only", stdin=b"y")
        self.tool("otp", "add", "rfc", stdin=f"otpauth://hotp/x?secret={KEY}&counter=5".encode())
        self.tool("otp", "add", "totp", stdin=f"otpauth://totp/Big:anna?secret={KEY}&issuer=Big&digits=8&algorithm=SHA256".encode())
        self.tool("otp", "add", "signer", "--suite", "OCRA-1:HOTP-SHA1-6:C-QN08", "--secret-format", "base32", stdin=KEY.encode())
        self.tool("transaction", "sign", "signer", "--question", "1")
        self.tool("otp", "add", "weak", "--allow-weak", stdin=b"otpauth://totp/x?secret=MY3DQZRR&digits=5")
        self.assertEqual([self.tool("code", "rfc").strip() for _ in range(2)], [b"254676", b"287922"])   # RFC 4226, appendix D
        raw = base64.b32decode(KEY).decode()
        return [{"name": "mail", "kind": 1, "secret": "a\0b\n", "attributes": {"service": "mail.example", "account": "anna", "label": "Mail"}},
                {"name": "big", "kind": 1, "secretBase64": base64.b64encode(big).decode()},
                {"name": "always", "secret": "x"}, {"name": "here", "secret": "y"},
                {"name": "rfc", "kind": 16, "secret": raw, "attributes": {"otpType": 1, "otpDigits": 6, "otpAlgorithm": 1}},
                {"name": "totp", "kind": 16, "secret": raw, "attributes": {"otpType": 2, "otpPeriod": 30, "otpDigits": 8, "otpAlgorithm": 2, "issuer": "Big"}},
                {"name": "signer", "kind": 16, "secret": raw, "attributes": {"otpType": 4, "otpRole": 1, "ocraSuite": "OCRA-1:HOTP-SHA1-6:C-QN08"}},
                {"name": "weak", "kind": 16, "secret": base64.b32decode("MY3DQZRR").decode(), "attributes": {"otpType": 2, "otpDigits": 5, "otpSecretBits": 40}}]

    def test_the_reader_opens_what_vaultctl_wrote_without_a_passcode(self):
        self.init("--no-passcode")
        items = self.fill()
        self.expect({"items": items, "passcode": False, "auditVerified": True, "testMade": False, "copied": False})
        counters = {i["name"]: i["state"]["counter"] for i in self.read(device_key=self.bytes_of(self.key))["items"] if i["kind"] == 16}
        self.assertEqual((counters["rfc"], counters["signer"]), (7, 1))

    def test_the_reader_follows_vaultctl_through_the_life_of_a_passcode(self):
        self.passcode = PASSCODE
        self.init()
        items = self.fill()
        self.expect({"items": items, "unlocked": True, "auditVerified": True}, PASSCODE)
        locked = [{**item, "secret": None} if item["name"] != "always" else item for item in items]
        for item in locked:
            item.pop("secretBase64", None)
        self.expect({"items": locked, "unlocked": False, "auditVerified": False})
        self.tool("passcode", "remove")
        self.passcode = None
        self.expect({"items": items, "passcode": False, "auditVerified": True})
        self.tool("passcode", "set", "--new-passcode-fd", "0", stdin=b"another")
        self.passcode = b"another"
        self.tool("add", "last", stdin=b"z")
        self.expect({"items": items + [{"name": "last", "secret": "z"}], "unlocked": True, "auditVerified": True}, b"another")

    def test_the_reader_opens_what_vaultctl_put_behind_constraints(self):
        self.passcode = PASSCODE
        self.init()
        self.tool("biometry", "enroll", "voice", phrase=b"my voice")
        rules = {"passcode": "passcode", "presence": "presence", "any": "biometry-any", "set": "biometry-current-set",
                 "either": "passcode,biometry-current-set,or", "both": "passcode,biometry-any,and", "all": "passcode,biometry-any,application-password"}
        for name, access in rules.items():
            own = {"application_password": b"app"} if "application-password" in access else {}
            self.tool("add", name, "--access", access, stdin=b"behind " + name.encode(), **own)
        self.tool("add", "app", "--accessible", "after-first-unlock", "--access", "application-password", stdin=b"behind app", application_password=b"app")
        self.tool("edit", "both", "--password", stdin=b"behind the second both", phrase=b"my voice")
        self.tool("vault", "rotate", "epoch")
        self.tool("biometry", "enroll", "face", phrase=b"my face")

        def opened(**typed):
            items = self.read(device_key=self.bytes_of(self.key), **typed)["items"]
            return {i["name"] for i in items if base64.b64decode(i.get("secretBase64", "")).startswith(b"behind ")}
        self.assertEqual(opened(), set())
        self.assertEqual(opened(application_password=b"app"), {"app"})
        # The reader takes the passcode for `any`, which opens under it to enroll members: the gate of vaultctl does not.
        self.assertEqual(opened(passcode=PASSCODE), {"passcode", "presence", "any", "either", "both"})
        self.assertEqual(opened(passcode=PASSCODE, phrase=b"my voice", application_password=b"app"), {*rules, "app"} - {"set"})
        self.assertEqual(opened(passcode=PASSCODE, phrase=b"my face", application_password=b"other"), {"passcode", "presence", "any", "either", "both"})

    def test_vaultctl_opens_what_the_writer_put_behind_constraints(self):
        maker = self.make(passcode=PASSCODE)
        self.passcode = PASSCODE
        typed = {"one alternative": {}, "two alternatives": {}, "presence": {}, "biometry": {"phrase": maker.phrase}, "both": {"phrase": maker.phrase},
                 "the set": {"phrase": maker.phrase}, "application password": {"application_password": b"app password"}}
        for name, shown in typed.items():
            expected = next(e for e in maker.expected if e["name"] == name)
            self.assertEqual(self.tool("get", name, program=TESTING, **shown), base64.b64decode(expected["secretBase64"]), name)
        self.tool("get", "both", program=TESTING, code=3, phrase=b"another")
        self.tool("get", "all of it", program=TESTING, code=15, phrase=maker.phrase)
        self.tool("biometry", "remove", "left hand", program=TESTING)
        self.tool("get", "the set", program=TESTING, code=1, phrase=maker.phrase)
        self.assertIn(" is sound", self.tool("vault", "check", program=TESTING).decode())
        self.read(device_key=maker.device_key, passcode=PASSCODE)

    def test_a_passcode_that_was_set_in_another_form_opens_by_its_bytes_as_one_attempt(self):
        self.make(passcode="gru\u0308n 1".encode())
        for typed, code in (("gru\u0308n 1", 0), ("gr\u00fcn 1", 3), ("gru\u0308n 2", 3), ("gru\u0308n 1", 0)):
            self.passcode = typed.encode()
            self.tool("audit", "--check", program=TESTING, code=code)

    def test_vaultctl_opens_what_the_writer_wrote(self):
        for passcode in (None, PASSCODE):
            maker = self.make(passcode=passcode, entries=4097, members=("phrase", "fprintd"))
            self.passcode = passcode
            report = self.tool("vault", "check", program=TESTING).decode()
            self.assertIn(" is sound", report)
            self.assertRegex(report, r"audit entries +\d+, chain checked")
            for expected in maker.expected:
                # What stands behind a member alone is opened in a test of its own.
                if expected["opens"] is True and expected["name"] not in (None, "biometry") and expected["kind"] in (1, 2, 0x8001):
                    shown = self.tool("get", expected["name"], program=TESTING)
                    self.assertEqual(shown, base64.b64decode(expected["secretBase64"]), expected["name"])
            self.assertEqual(self.tool("get", "shop", program=TESTING), b"entry")
            self.assertEqual(self.tool("code", "shop", program=TESTING).strip(), b"755224")
            self.assertEqual(self.tool("code", "rfc", program=TESTING).strip(), b"162583")     # counter 7
            self.assertEqual(self.tool("code", "rfc6238", "--at", "59", program=TESTING).strip(), b"94287082")
            self.assertEqual(self.tool("transaction", "sign", "rfc6287", "--question", "00000000", program=TESTING).strip(), b"237653")
            self.read(device_key=maker.device_key, passcode=passcode)    # and the reader, what it was made into

    # Verified to fail when the gate does not look at the kind, and when an unknown field of a policy is ignored.
    def test_vaultctl_hands_out_no_secret_of_a_component_or_of_a_later_version(self):
        for passcode in (None, PASSCODE):
            maker = self.make(passcode=passcode, members=("phrase", "fprintd"))
            self.passcode = passcode
            for expected in maker.expected:
                of_component = 16 <= expected["kind"] <= 25 or expected["kind"] == 3
                if not of_component and expected["opens"] != "later" or expected["opens"] == "trash":
                    continue
                code = 9 if of_component else 15
                self.tool("get", "--id", expected["id"], program=TESTING, code=code)
                if expected["name"]:
                    self.tool("run", "--fd", f"8={expected['name']}", "--", "true", program=TESTING, code=code)
            for name, code, export in (("behind pin", 6, 6), ("camouflaged", 6, 9), ("a mode of later", 15, 15)):
                self.tool("code", name, program=TESTING, code=code)
                self.tool("otp", "export", name, program=TESTING, code=export)
            exported = [json.loads(line)["name"] for line in self.tool("export", "jsonl", "--plain", program=TESTING).splitlines()]
            self.assertFalse({"behind pin", "camouflaged", "a mode of later", "a rule of later", "in the trash", "default pin", "card"} & {*exported})
            self.assertLessEqual({"mail", "rfc"}, {*exported})

    def test_vaultctl_renames_and_deletes_items_of_every_kind(self):
        maker = self.make(passcode=None)
        for number, expected in enumerate(maker.expected):
            code = 9 if expected["kind"] in (22, 23) else 1 if expected["opens"] == "trash" else 0
            typed = {"application_password": b"app password"} if expected["name"] == "application password" else {}
            self.tool("mv", "--id", expected["id"], f"new name {number}", program=TESTING, code=code, **typed)
        self.read()
        pins = [e["id"] for e in maker.expected if e["kind"] == 17]
        for pin in pins:
            self.tool("rm", "--id", pin, program=TESTING, code=9)
        self.assertEqual(len(self.read()["items"]), len(maker.expected))
        for expected in maker.expected:
            if expected["id"] not in pins:
                self.tool("rm", "--now", "--id", expected["id"], program=TESTING)
        for pin in pins:
            self.tool("rm", "--now", "--id", pin, program=TESTING)
        self.assertEqual(self.read()["items"], [])

    # Verified to fail when the test world changes a vault without noting it in field 17.
    def test_the_released_tool_refuses_a_vault_of_a_test_and_one_that_a_test_changed(self):
        for value in (1, 2, 3):
            maker = self.make(small=True, passcode=None)
            maker.header_fields[17] = bytes([value])
            maker.write(self.path)
            self.tool("status", code=9)
            self.tool("recovery-code", "verify", code=9, recovery=maker.recovery_text().encode())
        self.make(small=True, passcode=None, standard_kdf=True)
        self.tool("add", "ours", stdin=b"x")
        self.assertFalse(self.read()["testMade"])
        self.tool("add", "theirs", program=TESTING, stdin=b"x")
        self.assertEqual([self.read()[key] for key in ("testMade", "cheapDerivation", "predictableRandom")], [True, True, False])
        self.tool("get", "ours", code=9)
        self.assertEqual(self.tool("get", "ours", program=TESTING), b"x")

    def test_vaultctl_keeps_what_it_does_not_know(self):
        """Fields, attribute codes and kinds of a later version stay, and stay bound, whatever is written again."""
        maker = self.make(members=("phrase", "fprintd"))
        self.passcode = PASSCODE
        self.tool("edit", "mail", "--label", "another", program=TESTING)
        self.tool("biometry", "enroll", "voice", program=TESTING, phrase=b"my voice is this")
        self.tool("passcode", "change", "--new-passcode-fd", "0", program=TESTING, stdin=b"another")
        self.passcode = b"another"
        self.tool("vault", "rotate", "epoch", program=TESTING)
        vault = reader.Vault(self.path, maker.device_key, b"another")
        items = {i["name"]: i for i in vault.out["items"]}
        codes = {a["code"]: a["value"] for a in items["mail"]["attributes"]}
        self.assertEqual((codes[9000], codes[4], items["mail"]["unknownMetaFields"]), ("AP8=", "another", [9]))
        later = items["a kind of later"]
        self.assertEqual((later["kind"], later["flags"] & 0x100, later["secretMissing"]), (777, 0x100, "a kind of a later version"))
        secrets = {row: secret for row, _, secret in vault.material}
        for name in ("a kind of later", "a rule of later", "in the trash"):
            self.assertEqual(secrets[items[name]["row"]], maker.material[items[name]["row"]][1], name)
        self.assertEqual({a["code"]: a["value"] for a in later["attributes"]}[60000], -1)
        self.assertEqual(vault.h[99], b"a field of a later version")
        self.assertEqual(reader.decode(vault.set_record, "set")[9], b"of a later version")
        kept = [reader.decode(m, "member") for m in reader.items_of(reader.decode(vault.set_record, "set")[3], "members")]
        self.assertEqual([m.get(9) for m in kept], [b"of a later version", b"of a later version", None])
        self.assertEqual(reader.decode(self.entry(vault, 1), "entry")[40], b"of a later version")

    def entry(self, vault, sequence):
        body = next(e[1] for e in vault.audit if e[0] == sequence)
        return vault.open2("audit", vault.aad("audit", {17: reader.u(sequence, 8)}), body, "entry")

    # Verified to fail when the tool leaves out the generation, the subject, the key id, the class, the length or the presence
    # of slots, or the next row.
    def test_vaultctl_and_the_reader_refuse_the_same_files(self):
        for name, (code, write) in wrong.items():
            with self.subTest(name):
                write(self)
                self.tool("vault", "check", program=TESTING, code=code)

    def test_vaultctl_and_the_reader_open_the_same_odd_files(self):
        for name, write in right.items():
            with self.subTest(name):
                write(self)
                self.passcode = self.maker.passcode
                self.assertIn(" is sound", self.tool("vault", "check", program=TESTING).decode())
                # And what vaultctl made of it, with what it does not know as it was: an unlock ends what was begun.
                before = self.maker.slots
                self.tool("add", "new", program=TESTING, stdin=b"x")
                self.read()
                slots = reader.Vault(self.path, self.maker.device_key, self.maker.passcode).slot
                unknown = [s[1:] for s in before if s[1] == 9 or s[4] > 8]
                self.assertEqual([list(s[1:]) for s in slots if s[1] == 9 or s[4] > 8], unknown)

    def test_vaultctl_refuses_what_a_thief_made_of_a_vault_with_a_passcode(self):
        self.passcode = PASSCODE
        for name, theft in thefts.items():
            with self.subTest(name):
                theft(self)
                self.tool("vault", "check", program=TESTING, code=10)


if __name__ == "__main__":
    unittest.main()
