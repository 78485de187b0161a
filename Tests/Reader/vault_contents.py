"""What a test vault holds: every kind of item, and for the kinds that have choices, every choice."""
import struct

from vault_bytes import *  # noqa: F403


class Contents:
    """The part of `Maker` that says which items; `put_item` and the primitives are Maker's own."""

    def put_every_kind(self):
        rfc = b"12345678901234567890"
        self.put_item(1, {1: string("mail"), 2: string("mail.example"), 3: string("anna"), 4: string("Mail"),
                          44: date(NOW), 45: date(NOW), 9000: raw(b"\x00\xff")}, b"correct horse\x00\n",
                      extra_meta={9: b"a field of a later version"})
        self.put_item(1, {2: string("mail.example"), 3: raw(b"bytes\xfe"), 7: raw(b"\x01\x02"), 5: string("a comment")}, b"",
                      accessibility=2, state=u8(1))
        self.put_item(1, {1: string("no data"), 2: string(""), 3: string("no data")})
        self.put_item(2, {1: string("web"), 3: string("anna"), 15: string("example.org"), 17: integer(2), 19: integer(443),
                          20: string("/"), 12: string("team"), 13: boolean(True)}, b"pw", policy=self.policy(2), accessibility=2)
        self.put_item(3, {1: string("client key"), 21: raw(b"label"), 22: raw(b"tag"), 23: integer(1), 24: integer(73),
                          25: integer(256), 26: integer(256)}, b"PKCS8", device=True, policy=self.policy(1, True, 0x40000000))
        self.put_item(4, {37: integer(3), 40: raw(b"issuer"), 41: raw(b"\x05"), 43: raw(b"hash")}, b"DER")
        hotp = {1: string("rfc"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6)}
        self.put_item(16, hotp, rfc, state=(u8(1) + bytes(7) + u64(7)).ljust(104, b"\x00") + u64(7))
        self.put_item(16, {1: string("rfc6238"), 64: integer(2), 65: integer(1), 66: integer(1), 67: integer(8),
                           68: integer(30), 69: integer(1)}, rfc, accessibility=2, state=u8(1))
        self.put_item(16, {1: string("rfc6287"), 64: integer(4), 65: integer(1), 72: string("OCRA-1:HOTP-SHA1-6:QN08")}, rfc, state=u8(1))
        self.put_item(16, {1: string("tiqr"), 64: integer(4), 65: integer(1), 72: string("OCRA-1:HOTP-SHA1-6:QH10-S")}, rfc + rfc[:12], state=u8(1))
        self.put_item(16, {1: string("weak"), 64: integer(2), 65: integer(1), 66: integer(1), 67: integer(5), 68: integer(30), 69: integer(1),
                           96: integer(40)}, b"weak!", state=u8(1))
        self.put_pins(rfc)
        self.put_item(18, {1: string("finger")}, self.rnd(16), device=True, state=u8(1))
        self.put_short_lived()
        nonces = record({1: record({1: b"https://as.example", 2: b"n-1"})})
        self.put_item(21, {1: string("client"), 3: string("client-1"), 40: string("https://as.example"), 90: string("t1"),
                           91: raw(nonces)},
                      record({1: b"client-1", 2: b"https://as.example", 3: b"https://as.example/token", 4: u8(2),
                              7: b"a secret", 11: b"t1"}))
        by_hand = {1: b"client-2", 2: b"https://as.example", 3: b"https://as.example/token", 4: u8(1), 5: b"https://as.example/authorize",
                   6: b"https://as.example/revoke", 10: b"http://127.0.0.1/", 11: b"client-2", 12: u8(1), 13: b"https://as.example/device"}
        self.put_item(21, {1: string("client by hand"), 3: string("client-2"), 40: string("https://as.example"), 90: string("client-2")},
                      record(by_hand))
        for state, alias in enumerate(("order 7", "order 8")):
            self.put_item(22, {3: string("anna"), 4: string(alias), 92: raw(u8(state) + u64(70_000) + BOOT_ID)}, b"Pay 12 EUR")
        self.put_item(23, {3: string("00" * 16)},
                      record({1: u64(1), 2: u8(1), 3: b"access", 4: b"refresh", 6: b"orders", 7: i64(NOW)}), device=True)
        self.put_item(24, {1: string("answer")}, b"a.b.c", expires=NOW + 300_000)
        self.put_item(25, {1: string("photo")}, b"\xff\xd8")
        far = 4_000_000_000_000
        self.put_item(1, {1: string("for a while")}, b"given afterwards too", expires=far)
        self.put_item(2, {1: string("for a while only"), 15: string("example.org")}, b"refused afterwards",
                      policy=self.policy(refusing=True), expires=far)
        self.put_entries(rfc)
        self.put_later()
        self.put_constrained()

    ENTRY = record({1: b"entry", 2: b"two\nlines", 3: listed([record({1: b"customer", 2: b"4711"}), record({1: "Größe".encode(), 2: b"1", 3: u8(1), 9: b"later"})]),
                    4: listed([b"https://shop.example/x"]), 9: b"of a later version"})

    def put_entries(self, rfc):
        """Entries with their codes, what they were, and what is in the trash."""
        code = self.put_item(16, {64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6)}, rfc, state=u8(1), owned=True)
        self.put_item(1, {1: string("shop"), 3: string("anna"), 15: string("shop.example"), 82: raw(code), 97: string("home\nwork")},
                      self.ENTRY, flags=16, material=7, former=[(3, b"plain", False), (6, record({1: b"old"}), True)], opens="entry")
        self.put_item(2, {1: string("without a password"), 15: string("b.example")}, record({2: b"notes"}), flags=16, opens="entry")
        self.put_item(1, {1: string("thrown away"), 2: string("s"), 98: date(NOW)}, b"back soon", expires=NOW + 30 * 86_400_000, trashed=True,
                      material=2, former=[(1, b"before", False)], opens="trash")
        self.put_item(16, {1: string("thrown away too"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6)}, rfc, state=u8(1), trashed=True,
                      expires=NOW + 30 * 86_400_000, opens="trash")

    def component_state(self, state):
        """A state row with a value at each offset of a component, 112 to 159."""
        return u8(1).ljust(112, b"\x00") + u8(state) + u8(2) + u16(3) + u32(0) + u64(70_000) + BOOT_ID + i64(NOW) + u32(9) + struct.pack(">i", -5)

    def put_short_lived(self):
        life = record({1: i64(NOW), 2: u64(1000), 3: BOOT_ID, 4: u64(60_000), 5: u32(1)})
        self.put_item(19, {1: string("card")}, b"token", policy=self.policy(1, True, token=life), device=True,
                      state=u8(1).ljust(72, b"\x00") + u32(1), expires=NOW + 60_000)
        session = self.session = self.rnd(32)
        of_session = record({1: i64(NOW), 2: u64(1000), 3: BOOT_ID, 4: u64(60_000), 5: u32(1), 6: sha(b"vault/1/session" + session)})
        self.put_item(19, {1: string("card of a session")}, b"token", policy=self.policy(1, True, token=of_session), device=True,
                      alternatives=[([], 4, [session])], state=u8(1), opens="session")
        key = self.rnd(32)
        self.put_item(20, {1: string("issued consent"), 65: integer(2)}, record({1: u8(2), 2: key, 3: hm(key, b"123456")}),
                      policy=self.policy(1, True, token=life), device=True, state=self.component_state(4), expires=NOW + 300_000)
        self.put_item(20, {1: string("consent"), 65: integer(1)}, record({1: u8(1)}),
                      policy=self.policy(1, True, token=life), device=True, state=self.component_state(4), expires=NOW + 300_000)

    def put_later(self):
        """What a later version may add: a program lists it, keeps it, and opens none of it."""
        self.put_item(777, {1: string("a kind of later"), 60000: integer(-1)}, b"kept", flags=0x100, version=9, material=4, opens="later")
        self.put_item(26, {1: string("a component of later")}, b"kept", state=u8(1), opens="later")
        self.put_item(4, {1: string("an entry record"), 37: integer(1)}, b"kept", flags=16, opens="later")
        self.put_item(4, {1: string("in the trash"), 37: integer(2)}, b"kept", flags=32, opens="later")
        self.put_item(1, {1: string("a rule of later"), 2: string("later"), 3: string("3")}, b"kept", policy=self.policy(more={9: b"?"}), opens="later")
        self.put_item(1, {1: string("a rule of later for an expiry")}, b"kept", policy=self.policy(more={11: b"\x02"}), opens="later")
        self.put_item(3, {1: string("an expiry of a key of later"), 22: raw(b"later")}, b"kept",
                      policy=self.policy(1, True, refusing=True), device=True, opens="later")
        pin = (3, self.rnd(16))
        self.put_item(16, {1: string("a mode of later"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6)}, b"kept" * 5,
                      policy=self.policy(pin=pin), state=u8(1), opens="later")
        self.put_item(0x8001, {1: string("of a program")}, b"its own")

    def put_few(self):
        self.put_item(1, {1: string("mail"), 2: string("mail.example"), 3: string("anna")}, b"correct horse")
        self.put_item(1, {1: string("note")}, b"read me while locked", accessibility=2)
        self.put_item(16, {1: string("rfc"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6)},
                      b"12345678901234567890", state=u8(1) + bytes(7) + u64(7))

    def put_pins(self, rfc):
        kdf, pin_id = self.kdf(), self.rnd(16)
        policy, d = self.policy(), self.rnd(32)
        key = derive(self.argon(b"2580", kdf), b"vault/1/pin")
        sealed = self.seal1(key, "vault/1/seal-pin", self.aad("pin", {2: pin_id}), d)
        self.put_item(17, {1: string("default pin")}, record({1: u8(1), 2: kdf, 3: sealed}), policy=policy, item_id=pin_id,
                      state=u8(1))
        self.put_item(16, {1: string("behind pin"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6),
                           70: raw(pin_id)}, rfc, policy=self.policy(pin=(1, pin_id)), alternatives=[([], 2, [d])], state=u8(1), opens="pin")
        if any(source != "login" for _, source, _ in self.members):
            biokey = self.rnd(16)
            self.put_item(18, {1: string("biokey of the pin"), 22: raw(pin_id), 70: raw(pin_id)}, record({1: biokey, 2: pin_id, 3: d}), accessibility=3, device=True, state=u8(1),
                          policy=self.policy(3, True, 2, [(2, ANY)]), alternatives=[([ANY],)])
            self.put_item(16, {1: string("behind pin and passcode"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6)}, rfc, state=u8(1),
                          policy=self.policy(1, False, 0x10, [(0x10, PASSCODE)], pin=(1, pin_id)), alternatives=[([PASSCODE], 2, [d])], opens="pin")
        kdf, pin_id, otp_id, b = self.kdf(), self.rnd(16), self.rnd(16), [self.randomness.randrange(10) for _ in range(6)]
        mask = derive(self.argon(bytes(0x30 + x for x in b), kdf), b"vault/1/camouflage" + self.vault_id + otp_id, len(rfc))
        offset = bytes((x - int(y)) % 10 for x, y in zip(b, "258000"))
        self.put_item(17, {1: string("camouflaged pin")}, record({1: u8(2), 2: kdf}), item_id=pin_id,
                      state=u8(1).ljust(80, b"\x00") + offset)
        self.put_item(16, {1: string("camouflaged"), 64: integer(1), 65: integer(1), 66: integer(1), 67: integer(6),
                           70: raw(pin_id)}, bytes(x ^ y for x, y in zip(rfc, mask)), item_id=otp_id, state=u8(1),
                      policy=self.policy(pin=(2, pin_id)), opens="pin", shown=rfc)

    def put_constrained(self):
        kdf = self.kdf()
        self.put_item(1, {1: string("application password")}, b"behind a password", policy=self.policy(1, False, 0x80000000),
                      alternatives=[([], 1, [self.argon(b"app password", kdf)], kdf)], opens=False)
        if not self.members:
            return
        self.put_item(1, {1: string("one alternative"), 2: string("bank")}, b"behind the passcode", accessibility=3, device=True,
                      policy=self.policy(3, True, 0x10, [(0x10, PASSCODE)]), alternatives=[([PASSCODE],)])
        self.put_item(1, {1: string("two alternatives"), 2: string("bank"), 3: string("b")}, b"behind either",
                      policy=self.policy(1, False, 0x4018, [(8, SET + 1), (0x10, PASSCODE)], audit=1),
                      alternatives=[([SET + 1],), ([PASSCODE],)])
        self.put_item(1, {1: string("presence"), 2: string("bank"), 3: string("d")}, b"behind presence",
                      policy=self.policy(1, False, 1, [(1, PRESENCE)]), alternatives=[([PRESENCE],)])
        if any(source == "login" for _, source, _ in self.members):
            self.put_item(1, {1: string("presence while locked"), 2: string("bank"), 3: string("l")}, b"behind a login", accessibility=2,
                          policy=self.policy(2, False, 1, [(1, PRESENCE)]), alternatives=[([PRESENCE],)])
        self.put_item(1, {1: string("biometry"), 2: string("bank"), 3: string("e")}, b"behind any",
                      policy=self.policy(1, False, 2, [(2, ANY)]), alternatives=[([ANY],)])
        for name, word, bound in (("both", 0x8018, [(8, SET + 1), (0x10, PASSCODE)]), ("the set", 8, [(8, SET + 1)])):
            self.put_item(1, {1: string(name), 2: string("bank"), 3: string(name)}, b"behind " + name.encode(),
                          policy=self.policy(1, False, word, bound), alternatives=[(sorted(f for _, f in bound), 0)], opens="phrase")
        secrets = [self.rnd(32), self.rnd(32), self.rnd(32), self.rnd(32)]
        self.put_item(1, {1: string("all of it"), 2: string("bank"), 3: string("f")}, b"behind all of it",
                      policy=self.policy(1, False, 0x80000010, [(0x10, PASSCODE)], more={12: b"a further secret"}),
                      alternatives=[([PASSCODE], 0x0F, secrets, kdf)], opens="later")
