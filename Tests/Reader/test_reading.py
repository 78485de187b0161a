"""Writer to reader, both made from docs/format/vault-file.md alone: every item, every opener, every wrong key."""
import base64
import json
import os
import unittest

import make_vault
import vault_bytes
from cases import PASSCODE, Case, always, reader


def by_member(expected): return expected["opens"] in (True, "phrase")


class RoundTrips(Case):
    def check_items(self, out, opens):
        items = {i["id"]: i for i in out["items"]}
        self.assertEqual(len(items), len(self.maker.expected))
        for expected in self.maker.expected:
            found = items[expected["id"]]
            self.assertEqual((found["kind"], found["name"]), (expected["kind"], expected["name"]))
            # The reader opens what is in the trash, too; the secret of an entry is a record.
            of_password = expected["opens"] in ("entry", "trash")
            opened = opens({**expected, "opens": True} if of_password else expected)
            has_bytes = opened and expected["opens"] != "entry"
            self.assertEqual(found.get("secretBase64"), expected["secretBase64"] if has_bytes else None, found)
            self.assertEqual("secretMissing" in found, not opened)
            self.assertEqual("entry" in found, opened and expected["opens"] == "entry")

    def test_without_a_passcode_everything_opens_but_what_other_secrets_guard(self):
        self.make(passcode=None)
        out = self.read()
        self.check_items(out, always)
        self.assertTrue(out["auditVerified"])

    def test_entries_what_they_were_and_the_trash(self):
        self.make()
        items = {i["name"]: i for i in self.read()["items"]}
        text = lambda value: base64.b64decode(value).decode()
        shop = items["shop"]
        self.assertEqual((text(shop["entry"]["passwordBase64"]), text(shop["entry"]["notesBase64"])), ("entry", "two\nlines"))
        self.assertEqual([(f["name"], text(f["valueBase64"]), f["hidden"]) for f in shop["entry"]["fields"]],
                         [("customer", "4711", False), ("Größe", "1", True)])
        self.assertEqual(shop["entry"]["addresses"], ["https://shop.example/x"])
        self.assertEqual([(f["version"], f["until"], text(f.get("secretBase64") or f["entry"]["passwordBase64"])) for f in shop["former"]],
                         [(3, make_vault.NOW, "plain"), (6, make_vault.NOW, "old")])
        code = base64.b64decode(next(a["value"] for a in shop["attributes"] if a["attribute"] == "credential")).hex()
        self.assertEqual([i["kind"] for i in self.read()["items"] if i["id"] == code], [16])
        self.assertNotIn("passwordBase64", items["without a password"]["entry"])
        self.assertEqual(text(items["thrown away"]["former"][0]["secretBase64"]), "before")
        end = make_vault.NOW + 30 * 86_400_000
        self.assertEqual([items[name].get("trash") for name in ("thrown away", "thrown away too", "shop")],
                         [{"until": end, "expires": make_vault.NOW}, {"until": end, "expires": None}, None])
        locked = {i["name"]: i for i in self.read(device_key=self.maker.device_key)["items"]}
        self.assertEqual([f["secretMissing"] for f in locked["shop"]["former"]], ["locked: needs the passcode"] * 2)

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
        self.check_items(self.read(device_key=maker.device_key, passcode=PASSCODE, phrase=maker.phrase), by_member)
        self.refused("wrong phrase", 3, device_key=maker.device_key, passcode=PASSCODE, phrase=b"another phrase")

    def test_a_member_that_a_reader_of_fingers_vouches_for_needs_no_phrase(self):
        self.make(members=("phrase", "fprintd"))
        self.check_items(self.read(), by_member)

    def test_the_login_password_opens_presence_alone(self):
        maker = self.make(members=("phrase", "login"))
        self.check_items(self.read(device_key=maker.device_key), lambda e: e["name"] == "presence while locked" or always(e) and e["class"] & 0x7F == 2)
        vault = reader.Vault(self.path, device_key=maker.device_key)
        self.assertIn(make_vault.PRESENCE, vault.private)
        self.assertNotIn(make_vault.ANY, vault.private)
        self.assertNotIn(make_vault.SET + 1, vault.private)

    def test_a_passcode_has_one_form(self):
        maker = self.make(passcode="gr\u00fcn 1".encode())
        for typed in ("gru\u0308n 1", "gr\u00fcn\u00a01", "gr\u00fcn 1"):
            self.check_items(self.read(device_key=maker.device_key, passcode=typed.encode()), always)
        self.refused("wrong passcode", 3, device_key=maker.device_key, passcode="gru\u0308n 2".encode())

    def test_a_passcode_that_was_set_in_another_form_opens_by_its_bytes(self):
        maker = self.make(passcode="gru\u0308n 1".encode())
        self.check_items(self.read(), always)
        self.refused("wrong passcode", 3, device_key=maker.device_key, passcode="gr\u00fcn 1".encode())
        for no_text in (b"gr\xfcn", b"\xff\xfe"):
            self.assertEqual(reader.forms(no_text), [no_text])

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
        self.assertEqual(needs["camouflaged"], "needs the PIN: it is masked")
        for name in ("all of it", "a rule of later", "a mode of later"):
            self.assertEqual(needs[name], "a rule of a later version")
        for name in ("a kind of later", "a component of later"):
            self.assertEqual(needs[name], "a kind of a later version")
        for name in ("an entry record", "in the trash"):
            self.assertEqual(needs[name], "a flag of a later version")
        self.assertEqual(needs["no data"], "the item has no data")
        locked = {i["name"]: i.get("secretMissing") for i in self.read(device_key=self.maker.device_key)["items"]}
        self.assertEqual(locked["mail"], "locked: needs the passcode")
        code = self.maker.recovery_text().encode()
        recovered = {i["name"]: i.get("secretMissing") for i in self.read(recovery=code, passcode=PASSCODE)["items"]}
        self.assertEqual(recovered["client key"], "this-device-only: needs the device key")

    def test_a_pin_and_a_session_open_what_is_behind_them(self):
        for passcode in (None, PASSCODE):
            maker = self.make(passcode=passcode)
            keys = {"device_key": maker.device_key, "passcode": passcode}
            self.check_items(self.read(pin=b"2580", **keys), lambda e: e["opens"] in (True, "pin"))
            self.check_items(self.read(session=maker.session, **keys), lambda e: e["opens"] in (True, "session"))
            needs = {i["name"]: i for i in self.read(pin=b"2581", session=bytes(32), **keys)["items"]}
            self.assertEqual(needs["behind pin"]["secretMissing"], "needs the PIN")
            self.assertEqual(needs["card of a session"]["secretMissing"], "needs another session")
            # Nothing tells a wrong camouflaged PIN from a right one.
            masked = base64.b64decode(needs["camouflaged"]["secretBase64"])
            self.assertEqual(len(masked), 20)
            self.assertNotEqual(masked, b"12345678901234567890")
        done = self.run_reader(self.path, "--json", "--device-key", self.path + ".key", pin=b"2580\n", passcode=PASSCODE)
        self.assertEqual(done.returncode, 0, done.stderr)
        items = {i["name"]: i for i in json.loads(done.stdout)["items"]}
        self.assertEqual(items["behind pin"]["pin"], {"mode": 1, "item": items["default pin"]["id"]})

    def test_each_offset_of_the_state_of_a_component(self):
        self.make()
        items = self.read()["items"]
        found = [i["state"] for i in items if i["name"] == "issued consent"]
        expected = {"state": 4, "wrongUnlockCodes": 2, "resends": 3, "underWay": 0, "deadline": 70_000, "deadlineBoot": make_vault.BOOT_ID.hex(),
                    "lastSync": make_vault.NOW, "codesSinceSync": 9, "secondsOffset": -5}
        self.assertEqual({k: found[0][k] for k in expected}, expected)
        self.assertFalse([i for i in items if i["kind"] in (22, 23, 24, 25) and i.get("state")])

    def test_only_a_rule_of_this_version_refuses_what_has_expired(self):
        self.make()
        items = {i["name"]: i for i in self.read()["items"]}
        self.assertEqual([n for n, i in items.items() if i["policy"].get("refusesExpired")],
                         ["for a while only", "an expiry of a key of later"])
        self.assertEqual(items["for a while"]["expires"], items["for a while only"]["expires"])

    def test_the_standing_of_a_transaction(self):
        self.make()
        standing = {"deadline": 70_000, "deadlineBoot": make_vault.BOOT_ID.hex()}
        found = [i["standing"] for i in self.read()["items"] if i["kind"] == 22]
        self.assertEqual(found, [{"state": state} | standing for state in (0, 1)])
        maker = self.make(small=True, members=())
        for alias, value in (("short", make_vault.raw(bytes(24))), ("text", make_vault.string("x" * 25))):
            maker.put_item(22, {3: make_vault.string("anna"), 4: make_vault.string(alias), 92: value}, b"Pay 12 EUR")
        maker.write(self.path)
        self.assertFalse([i for i in self.read()["items"] if "standing" in i])

    def test_what_a_server_does_not_have_and_what_is_not_shown(self):
        maker = self.make(small=True, members=())
        for alias, more in (("told", {}), ("untold", {93: vault_bytes.integer(1)}), ("hidden", {93: vault_bytes.integer(2), 94: vault_bytes.integer(1)}),
                            ("text", {93: make_vault.string("1")})):
            maker.put_item(22, {3: make_vault.string("anna"), 4: make_vault.string(alias), **more}, b"Pay 12 EUR")
        maker.write(self.path)
        found = [{name: i[name] for name in ("untold", "notShown") if name in i} for i in self.read()["items"] if i["kind"] == 22]
        self.assertEqual(found, [{}, {"untold": 1}, {"untold": 2, "notShown": 1}, {}])

    # Each was verified to open, or to be read as another damage, when the condition is left out of the reader.
    def test_keys_that_are_not_what_the_policy_requires(self):
        def wrong(name, alternatives, **policy):
            maker = self.make(small=True, members=())
            maker.put_item(16, {1: make_vault.string(name)}, b"secret", policy=maker.policy(**policy), alternatives=alternatives, state=b"\1")
            maker.write(self.path)
        pin, life = (1, bytes(16)), make_vault.record({1: bytes(8), 2: bytes(8), 3: bytes(16), 4: bytes(8), 5: bytes(4), 6: bytes(32)})
        for name, alternatives, policy in (
                ("form 0 behind a PIN", None, {"pin": pin}), ("form 1 without a rule", [([], 2, [bytes(32)])], {}),
                ("form 1 behind a camouflaged PIN", [([], 2, [bytes(32)])], {"pin": (2, bytes(16))})):
            with self.subTest(name):
                wrong(name, alternatives, **policy)
                self.refused("damaged: form of the keys")
        for bits in (0, 1, 4, 6, 8, 10):
            with self.subTest(bits):
                wrong("bits", [([], bits, [bytes(32)] * bits.bit_count(), self.maker.kdf() if bits & 1 else None)], pin=pin)
                self.refused("damaged: ")
        maker = self.make(small=True, members=())
        maker.put_item(19, {1: make_vault.string("token")}, b"secret", policy=maker.policy(token=life), state=b"\1")
        maker.write(self.path)
        self.refused("damaged: form of the keys")

    # Each was verified to open, to be read as damage, or to end the reader, when the condition is left out of the reader.
    def test_rules_of_a_later_version_have_any_form(self):
        life, short = make_vault.record({1: bytes(8), 2: bytes(8), 3: bytes(16), 4: bytes(8), 5: bytes(4)}), make_vault.record({1: b""})
        of_later = make_vault.record({1: b"\3"})
        for name, kind, policy, flags in (
                ("field 0", 16, {"more": {0: b""}}, 0), ("field 0 of the life", 19, {"token": make_vault.record({0: b""}) + life}, 0),
                ("field 7 of the life", 19, {"token": short + make_vault.record({7: b""})}, 0),
                ("a mode without an item", 16, {"more": {8: of_later}}, 0), ("field 9", 16, {"more": {8: b"?", 9: b""}}, 0),
                ("a life of a credential", 16, {"token": short}, 0), ("the PIN of a token", 19, {"more": {8: b"?"}}, 0),
                ("constraints of a kind of later", 26, {"constraints": [(0x20, 1)]}, 0), ("in the trash", 4, {"constraints": [(0x20, 1)]}, 32)):
            with self.subTest(name):
                maker = self.make(small=True, members=())
                maker.put_item(kind, {1: make_vault.string(name), 2: make_vault.string(name)}, b"secret", policy=maker.policy(**policy), state=b"\1", flags=flags)
                maker.write(self.path)
                self.assertIn("of a later version", self.read()["items"][-1]["secretMissing"])

    def test_constraints_are_those_of_the_constraint_word(self):
        passcode, presence = (0x10, make_vault.PASSCODE), (1, make_vault.PRESENCE)
        for word, bound in ((0, [passcode]), (0x10, []), (0x10, [presence]), (0x10, [passcode, presence]), (0x10, [passcode, passcode])):
            with self.subTest((word, bound)):
                maker = self.make(small=True, members=())
                alternatives = [([f for _, f in bound],)] if bound else None
                maker.put_item(1, {1: make_vault.string("x"), 2: make_vault.string("x")}, b"x", policy=maker.policy(1, False, word, bound), alternatives=alternatives)
                maker.write(self.path)
                self.refused("damaged: constraints of")

    def test_a_mode_that_is_not_that_of_the_pin_item_and_an_offset_that_is_no_digit(self):
        for mode, other, offset, message in ((1, 2, bytes(6), "another mode"), (2, 1, bytes(6), "another mode"), (2, 2, b"\0\0\0\0\0\n", "state of")):
            with self.subTest((mode, other)):
                maker = self.make(small=True, members=())
                pin, kdf, d = maker.rnd(16), maker.kdf(), maker.rnd(32)
                sealed = maker.seal1(maker.rnd(32), "vault/1/seal-pin", maker.aad("pin", {2: pin}), d)
                data = make_vault.record({1: bytes([mode]), 2: kdf, 3: sealed if mode == 1 else None})
                maker.put_item(17, {1: make_vault.string("pin")}, data, item_id=pin, state=b"\1".ljust(80, b"\0") + offset)
                maker.put_item(16, {1: make_vault.string("x")}, b"x" * 20, policy=maker.policy(pin=(other, pin)), state=b"\1",
                               alternatives=[([], 2, [d])] if other == 1 else None)
                maker.write(self.path)
                for given in ({}, {"pin": b"1234"}):
                    if given or message == "another mode":
                        self.refused(message, device_key=maker.device_key, passcode=PASSCODE, **given)

    def test_an_application_password_opens_its_item_and_no_other(self):
        self.make(members=())
        keys = {"device_key": self.maker.device_key, "passcode": PASSCODE}
        opened = {i["name"]: i for i in self.read(application_password=b"app password", **keys)["items"]}
        self.assertEqual(base64.b64decode(opened["application password"]["secretBase64"]), b"behind a password")
        other = {i["name"]: i.get("secretMissing") for i in self.read(application_password=b"another", **keys)["items"]}
        self.assertEqual(other["application password"], "needs another application password")
        done = self.run_reader(self.path, "--json", "--device-key", self.path + ".key", **{"application-password": b"app password\n"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_factor_that_is_gone_is_named(self):
        maker = self.make(small=True)
        maker.factor(make_vault.SET + 7)                   # in no header: its set was replaced
        maker.put_item(1, {1: make_vault.string("stale"), 2: make_vault.string("a set")}, b"lost", opens=False, policy=maker.policy(1, False, 0x80000000),
                       alternatives=[([make_vault.SET + 7], 1, [b""], b"no KDF record"), ([make_vault.PASSCODE, make_vault.SET + 7], 1, [b""], b"no KDF record")])
        maker.write(self.path)
        self.assertEqual(self.read()["items"][-1]["secretMissing"], "needs factor 0x04000007, which is gone and the application password, or "
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

    def test_the_log_says_how_a_prompt_ended_and_what_was_given_without_one(self):
        maker = self.maker = make_vault.Maker(passcode=PASSCODE)
        maker.put_few()
        maker.log(1)
        for outcome, result in ((1, 0), (2, 5), (3, 5), (4, 5), (5, 5), (77, 5), (None, 6)):
            maker.log(25, result=result, detail=b"vault passcode", outcome=outcome)
        maker.log(40, detail=b"vault passcode")
        maker.write(self.path)
        log = self.read()["audit"][1:]
        self.assertEqual([e.get("outcome") for e in log], ["answered", "cancelled", "signal", "timeout", "program", "77", None, None])
        self.assertEqual([(e["operation"], e["detail"]) for e in log], [(25, "vault passcode")] * 7 + [(40, "vault passcode")])

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
        self.refused("another generation")
        maker.slots = [s for s in maker.slots if s[3] == 2]
        maker.write(self.path)
        self.refused("factor MAC")                         # field 16 covers field 8
        maker.bind_factors()
        maker.write(self.path)
        self.refused("generation 1 is not one of this vault")

    def restored_log(self, operation=21):
        """As a restore leaves it: the empty segment of the backup, and one that begins with the restore."""
        maker = self.make(small=True, members=())
        maker.make_log_empty()
        maker.start_segment()
        maker.log(operation)
        maker.log(9)
        maker.write(self.path)
        return maker

    def test_a_restored_log_begins_with_an_empty_segment(self):
        self.restored_log()
        out = self.read()
        self.assertEqual(([e["operation"] for e in out["audit"]], out["auditVerified"]), ([21, 9], True))

    # Each part was verified to fail without its condition in the reader.
    def test_another_beginning_of_the_log_is_seen(self):
        maker = self.restored_log(operation=9)
        self.refused("segments are missing", device_key=maker.device_key)
        maker = self.restored_log()
        maker.segments.pop(0)
        maker.write(self.path)
        self.refused("segments are missing", device_key=maker.device_key)
        number, begun, previous, start = maker.segments[0]
        maker.segments.insert(0, (number - 1, begun, bytes(32), start))   # another one in its place
        maker.write(self.path)
        self.refused("does not follow", device_key=maker.device_key)
        maker.make_log_empty()
        maker.write(self.path)
        self.refused("segments are missing", device_key=maker.device_key)

    # Verified to fail when segment 1 may be empty, when the current segment may be, and when each segment may be.
    def test_no_other_segment_is_empty(self):
        maker = self.make(small=True, members=())
        next_c = maker.next_c                              # all that the head row has for the segments to come
        maker.segments, maker.audit, maker.sequence, maker.last_mac = [], [], 1, bytes(32)
        maker.start_segment()
        maker.next_c = next_c
        maker.start_segment()
        maker.log(21)
        maker.write(self.path)
        self.refused("segments are missing", device_key=maker.device_key)
        maker = self.make(small=True, members=(), entries=4096)
        maker.start_segment()
        maker.write(self.path)
        self.refused("is not whole", device_key=maker.device_key)
        maker = self.make(small=True, members=())
        maker.make_log_empty()
        for _ in range(2):
            maker.start_segment()
        maker.log(21)
        maker.write(self.path)
        self.refused("is not whole", device_key=maker.device_key)

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
                maker.write(self.path)                     # the root is there, and its segment is not
                self.refused("audit root beyond")
            maker.log(4)
        maker.keep_newest_segments()
        self.assertEqual((maker.segments[0][:2], min(maker.roots)), ((2, 4097), 1))
        maker.write(self.path)
        out = self.read()
        self.assertEqual((out["audit"][0]["sequence"], len(out["audit"]), out["auditVerified"]), (4097, 64, True))

    def test_the_standard_derivation_opens(self):
        self.make(standard_kdf=True)
        self.assertFalse(self.read()["testMade"])

    def test_a_vault_of_a_test_names_its_reasons(self):
        for value, cheap, predictable in ((1, True, False), (2, False, True), (3, True, True)):
            maker = self.make(small=True, passcode=None)
            maker.header_fields[17] = bytes([value])
            maker.write(self.path)
            out = self.read()
            self.assertEqual((out["testMade"], out["cheapDerivation"], out["predictableRandom"]), (True, cheap, predictable))

    def test_the_mac_of_the_header_covers_the_mark_of_a_test(self):
        for change in (lambda h: h.pop(17), lambda h: h.__setitem__(17, b"\2")):
            maker = self.make(small=True, passcode=None)
            change(maker.header_fields)
            self.sql(("UPDATE header SET body = ?", (make_vault.record(maker.header_fields),)))
            self.refused("damaged: header MAC")

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

    # Verified to fail with the listing that knows no entry, and when it leaves out what was before.
    def test_a_listing_has_entries_what_they_were_and_until_when_the_trash_keeps_them(self):
        self.make()
        arguments = (self.path, "--device-key", self.path + ".key")
        listed = self.run_reader(*arguments, passcode=PASSCODE)
        self.assertEqual((listed.returncode, listed.stderr), (0, b""))
        lines = listed.stdout.decode().splitlines()
        shop = next(i for i, line in enumerate(lines) if " shop " in line)
        self.assertEqual([line[32:].strip() for line in lines[shop + 1:shop + 3]],
                         [f"former {version}, until {make_vault.NOW}: secret opens" for version in (3, 6)])
        end = f"in the trash until {make_vault.NOW + 30 * 86_400_000}"
        self.assertEqual([line.split()[2:4] for line in lines if end in line], [["thrown", "away"]] * 2)
        text = self.run_reader(*arguments, "--secrets", passcode=PASSCODE).stdout.decode()
        shown = json.loads(next(line for line in text.splitlines() if " shop " in line).split(" shop ")[1])
        self.assertEqual((shown["passwordBase64"], len(shown["fields"])), (base64.b64encode(b"entry").decode(), 2))
        self.assertIn(": " + base64.b64encode(b"plain").decode(), text)


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


if __name__ == "__main__":
    unittest.main()
