"""The attack on camouflaged PINs, against vaults of this writer: it finds each PIN that a writer betrays, and no other."""
import importlib.util
import os
import unittest

import make_vault
from cases import HERE, Case

spec = importlib.util.spec_from_file_location("attack", os.path.join(HERE, "..", "Camouflage", "attack.py"))
attack = importlib.util.module_from_spec(spec)
spec.loader.exec_module(attack)

DIGITS = "0123456789"


class Camouflaged(make_vault.Maker):
    """A vault whose PIN item is new, or was changed; `betray` says what the writer does wrong."""

    def __init__(self, pin, betray=None, **options):
        self.pin, self.betray = pin, betray
        super().__init__(passcode=None, **options)

    def kdf(self):
        return make_vault.record({1: make_vault.u8(1), 2: make_vault.u32(0x13), 3: make_vault.u32(8), 4: make_vault.u32(1), 5: make_vault.u32(1), 6: self.rnd(16)})

    def argon(self, secret, kdf): return attack.reader.argon(secret, kdf, "camouflage", True)

    def put_few(self):
        pin_id, kdf, b = self.rnd(16), self.kdf(), bytes(self.randomness.randrange(10) for _ in range(6))
        key = self.argon(bytes(0x30 + digit for digit in b), kdf)
        offset = bytes((digit - int(p)) % 10 for digit, p in zip(b, self.pin + "00"))
        secrets = [self.rnd(20), self.rnd(32)]
        if self.betray == "text":
            secrets[0] = b"12345678901234567890"
        if self.betray == "twice":
            secrets.append(secrets[0])
        self.put_item(17, {1: make_vault.string("pin")}, make_vault.record({1: b"\2", 2: kdf}), item_id=pin_id, state=b"\1".ljust(80, b"\0") + offset)
        told = {"hash": {7: make_vault.raw(make_vault.sha(secrets[1])[:8])}, "key id": {5: make_vault.string(attack.hashlib.sha1(secrets[0]).hexdigest())},
                "code": {5: make_vault.string(f"last code {attack.code(secrets[0], 3)}")}}
        for number, secret in enumerate(secrets):
            self.put_masked(f"otp {number}", secret, key, pin_id, 2, told.get(self.betray, {}))
        if self.betray == "plain":
            self.put_masked("a copy", secrets[1], None, pin_id, None)

    def put_masked(self, name, secret, key, pin_id, mode, told={}):
        otp, hotp = self.rnd(16), told | {1: make_vault.string(name), 64: make_vault.integer(1), 65: make_vault.integer(1), 66: make_vault.integer(1), 67: make_vault.integer(6)}
        if key:
            mask = make_vault.derive(key, b"vault/1/camouflage" + self.vault_id + otp, len(secret))
            secret = bytes(a ^ m for a, m in zip(secret, mask))
        self.put_item(16, hotp, secret, item_id=otp, state=b"\1", policy=self.policy(pin=(mode, pin_id) if mode else None))


class Camouflage(Case):
    def ranked(self, seed, betray=None):
        directory = os.path.join(self.folder, f"{betray} {seed}")
        os.makedirs(os.path.join(directory, "data"))
        os.mkdir(os.path.join(directory, "state"))
        pin = "".join(make_vault.random.Random(seed).choices(DIGITS, k=4))
        path = os.path.join(directory, "data", "a.vault")
        maker = make_vault.make(path, 0, True, Camouflaged(pin, betray, seed=seed))
        os.rename(path + ".key", os.path.join(directory, "state", "a.key"))
        if betray == "new salt":
            self.mask_again(maker, os.path.join(directory, "data", "old-1.vault"), seed)
        return attack.rank(attack.scores(attack.Loot(directory)), None, pin)

    def mask_again(self, maker, path, seed):
        """The same vault before a change of the PIN, with the same secrets under another PIN and another salt."""
        class Again(Camouflaged):
            def kdf(self):
                kdf = super().kdf()
                return kdf[:-16] + bytes(16) if self.next_row == 1 else kdf

        make_vault.make(path, 0, True, Again("8306", seed=seed))

    def test_a_pin_is_found_that_the_writer_betrays(self):
        for betray in ("twice", "plain", "text", "new salt", "hash", "key id", "code"):
            with self.subTest(betray):
                self.assertEqual(self.ranked(1, betray), 1)

    def test_a_pin_that_nothing_betrays_is_among_all_others(self):
        ranks = [self.ranked(seed) for seed in (2, 3)]
        self.assertGreater(min(ranks), 20)
        self.assertTrue(attack.judged(ranks)["isChance"])

    def test_ranks_that_are_no_lottery_are_told(self):
        lottery = [(index * 7919 + 5) % 10_000 + 1 for index in range(1000)]
        self.assertTrue(attack.judged(lottery)["isChance"])
        better = [max(1, r * 2 // 3) for r in lottery]
        first = [1 if index % 50 == 0 else r for index, r in enumerate(lottery)]
        for ranks in (better, first, [1] * 8 + lottery, [1, 1], [10_001 - r for r in better]):
            self.assertFalse(attack.judged(ranks)["isChance"], ranks[:3])

    def test_lessons_find_what_a_digit_leaves_beside_the_secrets(self):
        source = make_vault.random.Random(4)
        known = []
        for _ in range(400):
            pin = "".join(source.choices(DIGITS, k=4))
            known.append(([source.randrange(256), 3, (int(pin[2]) * 7 + 1) % 10], pin))
        lessons = attack.Lessons(known[:300])
        rows = [(0, 0, 0.0)] * attack.COUNT
        ranks = [attack.rank(rows, lessons.weights(features), pin) for features, pin in known[300:]]
        self.assertLess(sum(ranks) / 100, 1500)
        self.assertFalse(attack.judged(ranks)["isChance"])


if __name__ == "__main__":
    unittest.main()
