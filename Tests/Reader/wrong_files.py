"""Files of a writer that has every key, or of a thief who has the device key, each wrong in one thing that section 5 names.

`test_strictness.py` lets the reader refuse them, `tools_vaultctl.py` the tool itself: both must say the same. A writer is wrong in
`wrong`, name: (exit code, what writes the file); in `right` are files that look odd and are as the page allows.
"""
import make_vault
from make_vault import u8, u32, u64, i64

KEY_ID = bytes(range(16))
RECOVERY = 0x07000000


def maker(case, **options): return case.make(small=True, **options)


def finish(case, vault, seal=True):
    """Writes the changes, with every MAC right."""
    if seal and vault.passcode:
        vault.bind_factors()
    vault.write(case.path)


def header(change, passcode=True, **options):
    """Changes the header's fields by `change`."""
    def write(case):
        vault = maker(case, **options) if passcode else maker(case, passcode=None, **options)
        change(vault.header_fields, vault)
        finish(case, vault, seal=False)
    return write


def field(number, value, **options): return header(lambda h, _: h.__setitem__(number, value), **options)


def factors(change):
    def write(h, vault):
        h[13] = change(h[13])
        vault.bind_factors()
    return header(write, members=())


def enrolled(change):
    """`change` gets the vault with its members; when it returns a record, that is the record of the set."""
    def write(h, vault):
        # Without the members' slots, which are wrong too when the list is.
        vault.slots = [s for s in vault.slots if s[4] != 6]
        vault.seal_set(change(vault))
        vault.bind_factors()
    return header(write, members=("phrase", "fprintd"))


def members(change):
    def write(vault): vault.members = change(vault.members)
    return enrolled(write)


def set_of(vault, generation=1, digest=None, list_of_members=None, rest=b""):
    wanted = make_vault.listed([vault.member_record(*m) for m in vault.members]) if list_of_members is None else list_of_members(vault)
    right = make_vault.sha(make_vault.listed([b"left hand" for _, source, _ in vault.members if source == "fprintd"]))
    return make_vault.record({1: u32(generation), 2: digest or right, 3: wanted}) + rest


def slots(change, passcode=True, **options):
    def write(case):
        vault = maker(case, **options) if passcode else maker(case, passcode=None, **options)
        change(vault)
        finish(case, vault, seal=False)
    return write


def another(vault, of, **columns):
    """A copy of a present slot with other columns."""
    names = ("id", "kind", "subject", "generation", "opener", "opener_id", "body")
    copy = dict(zip(names, next(s for s in vault.slots if s[1:3] == list(of)))) | {"id": len(vault.slots) + 1} | columns
    vault.slots.append([copy[name] for name in names])


def head(offset, value):
    class Wrong(make_vault.Maker):
        def head_fields(self): return super().head_fields() | {offset: u64(value)}
    return lambda case: maker(case, maker=Wrong)


def column(sql):
    def write(case):
        maker(case)
        case.sql(sql)
    return write


def of_no_passcode(change): return header(change, passcode=False)


def plant_set(h, vault):
    vault.members = [(bytes(16), "fprintd", make_vault.MEMBER + 1)]
    vault.seal_set()


def whole_slot(kind, subject, opener, opener_id):
    """A slot whose seals are right, but whose columns are wrong."""
    def write(vault):
        layers = {5: [(vault.k_prompt, vault.header_fields[11], b"")], 6: [vault.wrapping(half, b"vault/1/member-wrap")]}.get(opener, [])
        vault.slot(kind, subject, 1, opener, opener_id, [(vault.slot_key(1), None, b""), *layers], vault.ck.get((subject, 1), bytes(32)))
    return slots(write)


def revoked_passcode(h, vault):
    h[19] = u32(make_vault.PASSCODE)
    vault.slots = [s for s in vault.slots if s[2] != make_vault.PASSCODE]


def set_of_before(case):
    """An epoch rotation is under way, and the set is still under the old keys."""
    vault = maker(case, members=("phrase", "fprintd"))
    old = vault.header_fields[14]
    vault.rotate()
    vault.header_fields[14] = old
    finish(case, vault, seal=False)


def plant_factor_slot(vault):
    vault.slot(4, make_vault.PASSCODE, 1, 5, b"", [(vault.slot_key(1), None, b"")], bytes(32))


def plant_trust_key(vault):
    vault.slot(6, 0, 1, 8, b"", [(vault.slot_key(1), None, b"")], bytes(32))


def without(kind):
    def write(vault): vault.slots = [s for s in vault.slots if s[1] != kind]
    return slots(write, members=())


def missing(kind, subject, **options):
    def write(vault): vault.slots = [s for s in vault.slots if s[1:3] != [kind, subject]]
    return slots(write, **options)


def emptied(kind, subject, body=b""):
    def write(vault): next(s for s in vault.slots if s[1:3] == [kind, subject])[6] = body
    return slots(write)


def plant_passcode_class(vault):
    vault.slot(3, 0x83, 1, 4, b"", [(vault.slot_key(1, True), None, b"")], bytes(32))


def without_later_classes(vault):
    """As after a restore or a recovery, until the next unlock."""
    vault.slots = [s for s in vault.slots if s[1] != 3 or s[2] not in (0x81, 0x83)]


def of_the_generation_before(kind):
    """An epoch rotation is under way, and a slot is there for the keys of before too."""
    def write(case):
        vault = maker(case, members=())
        vault.rotate()
        old = next(s for s in vault.slots if s[1] == kind)
        another(vault, old[1:3], generation=1)
        finish(case, vault, seal=False)
    return write


def revoke_recovery(h, _): h[19] = u32(make_vault.MEMBER + 77) + u32(RECOVERY)


def without_recovery_slot(vault): vault.slots = [s for s in vault.slots if s[4] != 2]


def empty_set(h, vault): h[14] = vault.seal2("meta", vault.aad("enrolled", {}), set_of(vault, 7))


half = make_vault.public(bytes(range(32)))
wrong = {
    "required features out of order": (10, field(6, u32(2) + u32(1))),
    "a required feature twice": (10, field(6, u32(1) + u32(1))),
    "required features with a rest": (10, field(6, u32(1) + u32(2) + u32(3) + b"\0")),
    "no required feature": (15, field(6, b"")),
    "a required feature of a later version": (15, field(6, u32(1) + u32(2) + u32(3) + u32(5))),
    "former secrets without their table": (10, field(6, u32(1) + u32(2) + u32(3) + u32(4))),
    "a vault from before policies": (15, field(6, u32(1))),
    "a vault from before names as keys": (15, field(6, u32(1) + u32(2))),
    "a vault with the second feature alone": (15, field(6, u32(2))),
    "config 0": (10, field(4, u64(0))),
    "config at its end": (10, field(4, u64(1 << 62))),
    "a previous generation that is not the one before": (10, field(8, u32(1))),
    "no protector": (10, header(lambda h, _: h.pop(9))),
    "a protector of a later version": (15, field(9, u8(4))),
    "a recovery half of 31 bytes": (10, field(12, half[1:])),
    "a factor MAC of 31 bytes": (10, field(16, bytes(31))),
    "no factor MAC with a passcode": (10, header(lambda h, _: h.pop(16))),
    "a vault of a test without a reason": (10, field(17, u8(0))),
    "a vault of a test with an unknown reason": (10, field(17, u8(4))),
    "a vault of a test whose reasons are two bytes": (10, field(17, b"\0\1")),
    "a derivation with a salt of 15 bytes": (10, header(lambda h, _: h.__setitem__(15, make_vault.record(
        {1: u8(1), 2: u32(0x13), 3: u32(64), 4: u32(1), 5: u32(1), 6: bytes(15)})))),
    "a derivation of a later version": (15, header(lambda h, _: h.__setitem__(15, make_vault.record(
        {1: u8(2), 2: u32(0x13), 3: u32(64), 4: u32(1), 5: u32(1), 6: bytes(16)})))),
    "factors out of order": (10, factors(lambda f: f[36:72] + f[:36] + f[72:])),
    "a factor twice": (10, factors(lambda f: f[:36] + f)),
    "factors with a rest": (10, factors(lambda f: f + b"\0")),
    "an empty list of factors": (10, factors(lambda f: b"")),
    "a factor that is none": (10, factors(lambda f: f + u32(0x08000000) + half)),
    "the recovery half among the factors": (10, factors(lambda f: f + u32(RECOVERY) + half)),
    "revoked halves out of order": (10, field(19, u32(make_vault.MEMBER + 2) + u32(make_vault.MEMBER + 1))),
    "a revoked half twice": (10, field(19, 2 * u32(make_vault.MEMBER + 1))),
    "revoked halves with a rest": (10, field(19, u32(make_vault.MEMBER + 1) + b"\0")),
    "an empty list of revoked halves": (10, field(19, b"")),
    "the passcode revoked": (10, header(revoked_passcode)),
    "replaced keys with a rest": (10, field(20, KEY_ID + b"\0")),
    "an empty list of replaced keys": (10, field(20, b"")),
    "a replaced key twice": (10, field(20, KEY_ID + KEY_ID)),
    "65 replaced keys": (10, field(20, b"".join(u64(0) + u64(i) for i in range(65)))),
    "the present key among the replaced": (10, header(lambda h, _: h.__setitem__(20, KEY_ID + h[10]))),
    "a set that is of another generation than the keys": (10, set_of_before),
    "two members with one id": (10, members(lambda m: [m[0], (m[0][0], *m[1][1:])])),
    "two members with one number": (10, members(lambda m: [m[0], (*m[1][:2], m[0][2])])),
    "a member with the number of a set": (10, members(lambda m: [m[0], (*m[1][:2], make_vault.SET + 1)])),
    "a set with another digest": (10, enrolled(lambda v: set_of(v, digest=bytes(32)))),
    "a set with a rest": (10, enrolled(lambda v: set_of(v, rest=b"\0"))),
    "a set with a generation at its end": (10, enrolled(lambda v: set_of(v, 1 << 24))),
    "a list of members with a gap": (10, enrolled(lambda v: set_of(v, list_of_members=lambda v: make_vault.record(
        {1: v.member_record(*v.members[0]), 3: v.member_record(*v.members[1])})))),
    "a member of an unknown source": (10, enrolled(lambda v: set_of(v, list_of_members=lambda v: make_vault.listed(
        [v.member_record(*v.members[1]), make_vault.record({1: bytes(16), 2: u8(4), 3: b"x", 4: i64(0), 5: u32(make_vault.MEMBER + 9)})])))),
    "two slots with one address": (10, slots(lambda v: another(v, (3, 2)))),
    "a slot of a generation that is not in force": (10, slots(lambda v: another(v, (3, 2), generation=9))),
    "a slot of no member": (10, whole_slot(4, make_vault.ANY, 6, bytes(16))),
    "a slot of a factor that is not there": (10, whole_slot(4, make_vault.MEMBER + 9, 5, b"")),
    "an opener id where there is none": (10, whole_slot(3, 2, 4, bytes(16))),
    "a slot of a member that was removed": (10, header(lambda h, v: h.__setitem__(19, u32(make_vault.MEMBER + 1)))),
    "an opener id of 3 bytes": (10, slots(lambda v: another(v, (3, 2), opener=10, opener_id=b"abc"))),
    "a root key with the opener of a class": (10, slots(lambda v: another(v, (1, 0), opener=4, opener_id=b""))),
    "a root key with a passphrase beside a device key": (10, slots(lambda v: another(v, (1, 0), opener=3, opener_id=b""))),
    "a slot of a recovery code that was revoked": (10, header(revoke_recovery)),
    "an audit root for a segment to come": (10, slots(lambda v: another(v, (5, 1), subject=2))),
    "a factor without a passcode": (10, of_no_passcode(lambda h, _: h.__setitem__(13, u32(make_vault.MEMBER + 1) + half))),
    "a phrase derivation without a passcode": (10, of_no_passcode(lambda h, v: h.__setitem__(15, v.kdf()))),
    "a factor MAC without a passcode": (10, of_no_passcode(lambda h, _: h.__setitem__(16, bytes(32)))),
    "revoked halves without a passcode": (10, of_no_passcode(lambda h, _: h.__setitem__(19, u32(make_vault.MEMBER + 1)))),
    "a member without a passcode": (10, of_no_passcode(plant_set)),
    "a private half without a passcode": (10, slots(plant_factor_slot, passcode=False)),
    "a trust key without a passcode": (10, slots(plant_trust_key, passcode=False)),
    "no trust key with a passcode": (10, without(6)),
    "a trust key that is open without the passcode": (10, slots(lambda v: another(v, (6, 0), opener=4))),
    "a second trust key": (10, slots(lambda v: another(v, (6, 0), subject=1))),
    "a trust key of the generation before": (10, of_the_generation_before(6)),
    "an audit root of the generation before": (10, of_the_generation_before(5)),
    "a private half of the generation before": (10, of_the_generation_before(4)),
    "a sequence at its end": (10, head(16, 1 << 62)),
    "an audit sequence at its end": (10, head(88, 1 << 62)),
    "a segment at its end": (10, head(96, 0xFFFFFFFF)),
    "a root key for another device key": (10, slots(lambda v: another(v, (1, 0), opener_id=bytes(16)))),
    "a this-device root key for another device key": (10, slots(lambda v: another(v, (2, 0), opener_id=bytes(16)))),
    "a root key with a subject": (10, slots(lambda v: another(v, (1, 0), subject=1))),
    "a this-device root key with a subject": (10, slots(lambda v: another(v, (2, 0), subject=1))),
    "a class above 255": (10, whole_slot(3, 0x102, 4, b"")),
    "a reserved class": (10, whole_slot(3, 4, 8, b"")),
    "the class of a passcode without one": (10, slots(plant_passcode_class, passcode=False)),
    "a slot with an empty body": (10, emptied(3, 2)),
    "a root key with an empty body": (10, emptied(1, 0)),
    "a factor with a body of a few bytes": (10, emptied(4, make_vault.PASSCODE, b"\1\1x")),
    "an item with empty keys": (10, column("UPDATE material SET keys = x'' WHERE row = 1")),
    "a head row of layout 1": (10, head(0, 1 << 48)),
    "a head row without a byte": (10, column("UPDATE head SET body = x''")),
    "no class key whenUnlocked": (10, missing(3, 1)),
    "no class key afterFirstUnlock": (10, missing(3, 2)),
    "no this-device class key afterFirstUnlock": (10, missing(3, 0x82)),
    "no this-device class key whenUnlocked without a passcode": (10, missing(3, 0x81, passcode=False)),
    "no this-device root key": (10, missing(2, 0)),
    "no root key": (10, missing(1, 0)),
    "a label of a member that is not UTF-8": (10, enrolled(lambda v: set_of(v, list_of_members=lambda v: make_vault.listed(
        [v.member_record(*v.members[1]), make_vault.record({1: bytes(16), 2: u8(1), 3: b"\xff", 4: i64(0), 5: u32(make_vault.MEMBER + 9)})])))),
    "a next row that is taken": (10, head(24, 3)),
    "an audit sequence far beyond the log": (10, head(88, 1 << 28)),
    "a segment far beyond the log": (10, head(96, 0xFFFFFFFE)),
    "another beginning of the segment in the head row": (10, head(104, 2)),
    "a first segment that follows something": (10, column("UPDATE segment SET previous = randomblob(32)")),
    "a log without a segment": (10, column("DELETE FROM segment")),
    "a log without an entry": (10, column("DELETE FROM audit")),
    "a negative version": (10, column("UPDATE item SET version = -1 WHERE row = 1")),
    "a negative revision": (10, column("UPDATE state SET revision = -1 WHERE row = 3")),
    "a negative generation": (10, column("UPDATE item SET generation = -1 WHERE row = 1")),
}


def later_slots(vault):
    """A slot with a kind and an opener that this version does not know."""
    another(vault, (3, 2), kind=9, generation=77)
    another(vault, (3, 2), opener=9)
    another(vault, (3, 2), opener=10, opener_id=bytes(range(16)))


def later_derivation(h, vault):
    h[15] = vault.kdf() + make_vault.record({9: b"of a later version"})
    vault.bind_factors()


right = {
    "replaced keys": field(20, KEY_ID + bytes(16)),
    "an empty set without a passcode": of_no_passcode(empty_set),
    "a recovery half without a passcode": of_no_passcode(lambda h, _: None),
    "slots of a later version": slots(later_slots),
    "a derivation with a field of a later version": header(later_derivation, members=()),
    "no this-device classes behind the passcode yet": slots(without_later_classes),
    "a reserved field": field(21, b"of a later version"),
    "a vault of a test for both reasons": field(17, u8(3)),
    "a vault of a test with predictable random bytes alone": field(17, u8(2), passcode=False),
}


def revoked_recovery(case):
    vault = maker(case)
    revoke_recovery(vault.header_fields, vault)
    without_recovery_slot(vault)
    finish(case, vault, seal=False)


def removed_member(case):
    """As after a removal while locked: set and factors are unchanged, the slots of the member and of the set are gone."""
    vault = maker(case, members=("phrase", "fprintd"))
    vault.header_fields[19] = u32(make_vault.SET + 1) + u32(make_vault.MEMBER + 2)
    gone = (make_vault.SET + 1, make_vault.MEMBER + 2)
    vault.slots = [s for s in vault.slots if s[1] != 4 or s[2] not in gone and s[5] != vault.members[1][0]]
    finish(case, vault, seal=False)


right |= {"a revoked recovery code": revoked_recovery, "a member that was removed while locked": removed_member}
