"""Vaults of a writer that has keys: one that errs, and a thief who has the device key and not the passcode."""
import unittest

import make_vault
from cases import Case


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
            def primary_key(self, kind, values): return super().primary_key(kind, {**values, 1: b"another " + values[1]})

        self.written("primary key", Wrong)

    def test_a_primary_key_of_service_and_account_beside_a_name(self):
        class Wrong(make_vault.Maker):
            def primary_key(self, kind, values): return super().primary_key(kind, {c: v for c, v in values.items() if c != 1})

        self.written("primary key", Wrong)

    def test_passwords_of_one_service_and_account(self):
        maker = self.make(small=True)
        same = {2: make_vault.string("s"), 3: make_vault.string("a")}
        for name in ("one", "two"):
            maker.put_item(1, {1: make_vault.string(name), **same}, b"x")
        maker.put_item(1, same, b"without a name")
        maker.write(self.path)
        self.assertEqual(len(self.read()["items"]), 6)
        maker.put_item(1, same, b"without a name, too")
        self.assertEqual([maker.items[-1][3] == item[3] for item in maker.items[-4:-1]], [False, False, True])

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
                               (13, lambda old: old[:-32] + public), (16, lambda old: bytes(32))):
            maker = self.make(small=True, members=())
            if number == 13 and len(change(maker.header_fields[13])) == len(maker.header_fields[13]):
                maker.slots = [s for s in maker.slots if s[2] != make_vault.ANY]
            maker.header_fields[number] = change(maker.header_fields.get(number))
            maker.write(self.path)
            self.refused("factor MAC")
            self.assertFalse(self.read(device_key=maker.device_key)["unlocked"])

    def test_alternatives_that_contradict_themselves(self):
        for message, word, alternative in (("alternative of", 0x80000000, ([], 1, [b""])), ("alternative of", 0x10, ([make_vault.PASSCODE], 0, [], b"a KDF record")),
                                           ("factors of", 0x10, ([], 0)), ("factors of", 0x10, ([make_vault.PASSCODE] * 2,)),
                                           ("factors of", 0x10, ([make_vault.ANY, make_vault.PASSCODE],))):
            maker = self.make(small=True)
            policy = maker.policy(1, False, word, [(0x10, make_vault.PASSCODE)] if word == 0x10 else ())
            maker.put_item(1, {2: make_vault.string("x"), 3: make_vault.string("x")}, b"x", policy=policy, alternatives=[alternative])
            maker.write(self.path)
            self.refused(message)

    def test_an_application_password_that_policy_and_keys_do_not_agree_about(self):
        for message, word, alternatives in (("further secrets of", 0x80000010, lambda kdf: [([make_vault.PASSCODE],)]),
                                            ("further secrets of", 0x10, lambda kdf: [([make_vault.PASSCODE], 1, [b"x" * 32], kdf)]),
                                            ("keys of", 0x80000000, lambda kdf: None)):
            maker = self.make(small=True)
            constraints = [(0x10, make_vault.PASSCODE)] if word & 0x10 else []
            maker.put_item(1, {2: make_vault.string("x"), 3: make_vault.string("x")}, b"x",
                           policy=maker.policy(1, False, word, constraints), alternatives=alternatives(maker.kdf()))
            maker.write(self.path)
            self.refused(message)

    def test_the_login_password_passed_off_as_a_member_of_the_set(self):
        for source, sources in (("fprintd", ("phrase", "login")), ("login", ("phrase", "fprintd"))):
            class Forged(make_vault.Maker):
                def make_header(self, members):
                    super().make_header(members)
                    # As the other kind, with the number that it has.
                    self.members[1] = (self.members[1][0], source, self.members[1][2])
                    self.seal_set()
            self.make(small=True, maker=Forged, members=sources)
            self.refused("login password's number")

    def test_two_members_with_one_factor(self):
        for twin in ("login", "phrase"):
            class Doubled(make_vault.Maker):
                def make_header(self, members):
                    super().make_header(members)
                    _, source, factor = next(m for m in self.members if m[1] == twin)
                    self.members.append((bytes(16), source, factor))
                    self.seal_set()
            self.make(small=True, maker=Doubled, members=("phrase", "login"))
            self.refused("two members with one factor")

    def test_a_list_of_factors_out_of_order_or_doubled(self):
        for change in (lambda h: h[36:72] + h[:36] + h[72:], lambda h: h[:36] + h, lambda h: h[:-1]):
            maker = self.make(small=True, members=())
            maker.header_fields[13] = change(maker.header_fields[13])
            maker.bind_factors()
            maker.write(self.path)
            self.refused("damaged: header field 13")

    def test_parameters_of_the_derivation_out_of_bounds(self):
        class Cheap(make_vault.Maker):
            def make_header(self, sources):
                super().make_header(sources)
                del self.header_fields[17]

        self.written("parameters out of bounds", Cheap)


class SlippedInKeys(Case):
    """Who has the device key can make every slot that needs no passcode; a vault with a passcode must not take one."""

    def with_slot(self, kind, subject, key):
        maker = self.make(small=True, members=())
        slot = next(s for s in maker.slots if s[1:3] == [kind, subject])
        outer = maker.slot_key(1, subject & 0x80)
        maker.slot(kind, subject, 1, 4, b"", [(outer, None, b"")], key)
        slot[4:] = maker.slots.pop()[4:]
        return maker

    def slip_class_key(self, number):
        maker = SlippedInKeys.with_slot(self, 3, number, bytes(32))
        maker.ck[number, 1] = bytes(32)
        maker.write(self.path)
        return maker

    def test_a_class_key_of_the_thief(self):
        for number in (1, 0x81, 0x83):
            maker = self.slip_class_key(number)
            self.refused("kind 3 with opener 4")
            self.refused("kind 3 with opener 4", device_key=maker.device_key)

    def test_a_private_half_of_the_thief(self):
        maker = self.with_slot(4, make_vault.PASSCODE, bytes(32))
        maker.write(self.path)
        self.refused("kind 4 with opener 4")


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

    def cut_off(self):
        maker = self.make(entries=100)
        maker.audit, maker.sequence, maker.last_mac = maker.audit[:90], 91, maker.audit[89][2]
        maker.write(self.path)                             # the chain key stands after entry 100 and cannot go back
        return maker

    def test_a_log_cut_off_together_with_its_head_row_is_seen(self):
        self.cut_off()
        self.refused("does not end where")

    def rewrite(self):
        maker = self.make(entries=100)
        maker.segments, maker.audit, maker.sequence, maker.last_mac = [], [], 1, bytes(32)
        maker.next_c = bytes(32)                           # the audit root is sealed under the passcode
        Audit.forge(self, maker, 100)
        return maker

    def test_a_rewritten_history_is_seen(self):
        self.rewrite()
        self.refused("audit entry 1, MAC")

    def own_root(self):
        maker = self.make(entries=100)
        maker.segments, maker.audit, maker.sequence, maker.last_mac = [], [], 1, bytes(32)
        maker.next_c = maker.roots[1] = bytes(32)
        fifth = next(s for s in maker.slots if s[1] == 5)
        outer = maker.slot_key(1)
        maker.slot(5, 1, 1, 4, b"", [(outer, None, b"")], maker.next_c)
        fifth[4:] = maker.slots.pop()[4:]
        Audit.forge(self, maker, 100)
        return maker

    def test_a_rewritten_history_under_a_root_of_the_thief_is_seen(self):
        self.own_root()
        self.refused("kind 5 with opener 4")

    def cut_off_and_continue(self):
        maker = self.make(entries=100)
        maker.audit, maker.sequence, maker.last_mac = maker.audit[:50], 51, maker.audit[49][2]
        maker.start_segment()                              # with C of the head row, which the thief has
        Audit.forge(self, maker, 50)
        return maker

    def test_a_log_cut_off_and_continued_with_the_next_segments_key_is_seen(self):
        maker = self.cut_off_and_continue()
        self.refused("is not whole")
        self.refused("is not whole", device_key=maker.device_key)

    def test_segments_of_two_logs_do_not_fit_even_without_the_passcode(self):
        maker = self.make(small=True, entries=4097)
        self.sql(("UPDATE segment SET previous = ? WHERE number = 2", (bytes(32),)))
        self.refused("segment 2 does not follow", device_key=maker.device_key)

    def test_a_root_moved_to_another_segment_is_seen(self):
        maker = self.make(entries=100)
        slot = next(s for s in maker.slots if s[1] == 5)
        slot[2] = 2
        maker.write(self.path)
        self.refused(f"slot {slot[0]}")


class BeforeThePasscode(Case):
    """The thief had the device key before the first passcode: he knows the class keys and the old audit root."""

    def forge_factor_mac(self):
        maker = self.make(small=True, members=())
        maker.header_fields[12] = make_vault.public(bytes(range(32)))
        maker.trust = maker.ck[1, 1]
        maker.bind_factors()
        maker.write(self.path)
        return maker

    # Verified to fail when reader and writer take CK[whenUnlocked] for the trust key.
    def test_a_factor_mac_made_with_a_class_key_is_seen(self):
        maker = BeforeThePasscode.forge_factor_mac(self)
        self.refused("factor MAC")
        self.assertFalse(self.read(device_key=maker.device_key)["unlocked"])

    def from_the_old_root(self):
        """The log of a vault that had a passcode from its second segment on, rewritten from the root of before."""
        maker = self.make(small=True, members=())
        first = maker.roots[1]
        maker.new_audit_root()
        del maker.roots[2]
        maker.seal_slots()
        maker.segments, maker.audit, maker.sequence, maker.last_mac, maker.next_c = [], [], 1, bytes(32), first
        Audit.forge(self, maker, 100)
        return maker

    # This one and the next: verified to fail when reader and writer leave the audit roots out of field 16.
    def test_a_log_from_the_old_root_is_seen_where_the_new_one_was_taken_away(self):
        maker = BeforeThePasscode.from_the_old_root(self)
        self.refused("factor MAC")
        self.assertFalse(self.read(device_key=maker.device_key)["auditVerified"])

    def test_an_audit_root_that_was_added_is_seen(self):
        maker = self.make(small=True, members=())
        maker.next_c = maker.roots[2] = bytes(32)
        maker.seal_slots()
        maker.log(1)
        maker.write(self.path)
        self.refused("factor MAC")


# What a thief makes of the vault of a case; tools_vaultctl.py lets the tool itself refuse them.
def own_class_key(case): SlippedInKeys.slip_class_key(case, 1)
def own_audit_root(case): Audit.own_root(case)
def rewritten(case): Audit.rewrite(case)
def cut_off(case): Audit.cut_off(case)
def continued(case): Audit.cut_off_and_continue(case)
def own_factor_mac(case): BeforeThePasscode.forge_factor_mac(case)
def from_the_old_root(case): BeforeThePasscode.from_the_old_root(case)


thefts = {f.__name__: f for f in (own_class_key, own_audit_root, rewritten, cut_off, continued, own_factor_mac, from_the_old_root)}

if __name__ == "__main__":
    unittest.main()
