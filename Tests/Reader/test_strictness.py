"""One file for each thing that a reader must refuse by section 5 of the page, and for what it must keep or pass over."""
import unittest

import make_vault
from cases import Case, reader
from wrong_files import RECOVERY, right, wrong


class Strictness(Case):
    def test_each_wrong_file_is_refused(self):
        for name, (code, write) in wrong.items():
            with self.subTest(name):
                write(self)
                with self.assertRaises(reader.Failure) as caught:
                    self.read(device_key=self.maker.device_key)
                self.assertEqual(caught.exception.code, code, caught.exception)

    def test_what_is_as_the_page_allows_opens(self):
        for name, write in right.items():
            with self.subTest(name):
                write(self)
                self.read(device_key=self.maker.device_key)
                self.read()

    def test_a_revoked_recovery_code_is_none(self):
        self.make(small=True)
        code = self.maker.recovery_text().encode()
        self.assertTrue(self.read(recovery=code, passcode=self.maker.passcode)["recovery"])
        right["a revoked recovery code"](self)
        self.assertFalse(self.read()["recovery"])
        self.refused("no root key", 11, recovery=code)

    def test_a_member_that_was_removed_while_locked_opens_nothing(self):
        right["a member that was removed while locked"](self)
        vault = reader.Vault(self.path, self.maker.device_key, self.maker.passcode)
        self.assertEqual([source for source, _ in vault.members.values()], [1])
        self.assertNotIn(make_vault.SET + 1, vault.private)
        self.assertNotIn(make_vault.MEMBER + 2, vault.private)

    def test_the_factor_mac_covers_the_members(self):
        self.make(small=True, members=("phrase", "fprintd"))
        self.maker.members.pop()
        self.maker.seal_set()                              # by who has the device key: the MAC is the old one
        gone = [make_vault.MEMBER + 2]
        self.maker.slots = [s for s in self.maker.slots if s[1] != 4 or s[2] not in gone and s[5] in (b"", self.maker.members[0][0])]
        self.maker.write(self.path)
        self.refused("factor MAC")

    def test_an_attribute_of_another_length_or_type(self):
        for value in (b"\x03\0", b"\x04\0\0", b"\x05" + bytes(9), b"\x4da float", b""):
            maker = self.make(small=True)
            maker.put_item(1, {1: make_vault.string("later"), 2: make_vault.string("x"), 5: value})
            maker.write(self.path)
            self.refused("attribute")


if __name__ == "__main__":
    unittest.main()
