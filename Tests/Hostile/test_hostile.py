#!/usr/bin/env python3
"""Runs each hostile program against the keeper and against the agent of the person.

usage: test_hostile.py --list | [--programs DIRECTORY] [--pam FILE] [--table] [--short | NAME]

DIRECTORY has vaultd, vaultctl and vault-keeper; the standard one is .build/release of this tree. vault-pam is there too, or FILE. With
--table, it prints what each program got. --short runs those in which nothing depends on how fast the machine is, for scripts/test. NAME runs the programs whose name has that text in it.

It needs root, for the accounts and namespaces of rig.py. Where it has no root it fails; it never skips.
"""
import argparse
import os
import sys
import unittest

import rig
from asking import KeeperAsks
from fingers import FingerAsks
from programs import ALL, SHORT, UNDERSTOOD

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--programs", default=os.path.join(HERE, "../../.build/release"))
    parser.add_argument("--pam")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("name", nargs="?", default="")
    return parser.parse_args()


class HostilePrograms(KeeperAsks, FingerAsks, unittest.TestCase):
    options = None
    machine = None
    results = {}

    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0:
            raise AssertionError("the hostile programs need root: run them with sudo")
        cls.options = cls.options or argparse.Namespace(
            programs=os.path.join(HERE, "../../.build/release"), pam=None, table=False, short=False, name="")
        found = {name: os.path.join(cls.options.programs, name) for name in ("vaultd", "vaultctl", "vault-keeper", "vault-pam")}
        found["vault-pam"] = cls.options.pam or found["vault-pam"]
        for name, path in found.items():
            if not os.path.isfile(path):
                raise AssertionError("there is no %s at %s: build it first" % (name, path))
        cls.machine = rig.Rig(found)
        cls.addClassCleanup(cls.machine.end)
        cls.machine.make()

    def test_a_forged_request_is_understood(self):
        """Else a program would get nothing only because nobody understands what it sends."""
        for name, world in self.machine.worlds.items():
            with self.subTest(name):
                self.assertEqual(world.attack(UNDERSTOOD), ("answer", ""))

    def test_the_state_is_closed(self):
        """Nobody but the keeper has any right on its directories and files: neither its group nor others, whoever is in that group."""
        keeper = self.machine.worlds["keeper"]
        for path in [keeper.state, *(os.path.join(top, name) for top, folders, names in os.walk(keeper.state) for name in folders + names)]:
            about = os.lstat(path)
            self.assertEqual((about.st_uid, about.st_mode & 0o077), (rig.KEEPER, 0), path)

    def test_each_hostile_program(self):
        """The keeper gives it nothing; the agent gives it what is written beside it."""
        chosen = [
            program for program in ALL if self.options.name in program.name and (not self.options.short or program.name in SHORT)]
        self.assertTrue(chosen, "no hostile program has '%s' in its name" % self.options.name)
        for program in chosen:
            with self.subTest(program.name):
                got = {}
                for name, world in self.machine.worlds.items():
                    got[name], note = world.attack(program)
                    if os.environ.get("HOSTILE_NOTES"):
                        print("  %s, %s: %s" % (program.name, name, note), file=sys.stderr)
                    if got[name] == "error":
                        got[name + " note"] = note
                self.results[program.name] = (program, got)
                served = self.machine.worlds["keeper"].served
                if self.options.table:
                    keeper = got["keeper"] if served else "unserved"
                    print("%-34s %-9s %-9s %s" % (program.name, got["service"], keeper, program.does), flush=True)
                errors = [got[key] for key in got if key.endswith(" note")]
                self.assertFalse(errors, "the program itself failed: %s" % "\n".join(errors))
                self.assertEqual(got["keeper"], "nothing", "the keeper gave something to '%s'" % program.name)
                self.assertEqual(got["service"], program.service, "the agent of the person, and '%s'" % program.name)
                self.assertTrue(served, "after '%s' has ended, the keeper no longer serves the person" % program.name)

    def test_zz_the_keeper_is_sound_afterwards(self):
        """After all programs: the vault in the keeper is whole, and the person is served."""
        keeper = self.machine.worlds["keeper"]
        report = keeper.administer("vault", "check").out
        self.assertIn("sound", report)
        self.assertEqual(keeper.ctl("keeper", "status").exit, 0)
        keeper.must("unlock", passcode=True)
        self.assertEqual(keeper.must("get", "guarded", passcode=True).out, open(rig.PRIVATE + "/guarded").read())
        self.assertEqual(keeper.ctl("pin", "verify", "pin", pin=True).exit, 0)


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(program.name for program in ALL))
        return
    try:
        rig.enter()
    except rig.Broken as error:
        sys.exit("test_hostile.py: %s" % error)
    HostilePrograms.options = arguments()
    if HostilePrograms.options.table:
        print("%-34s %-9s %-9s %s" % ("program", "service", "keeper", "what it does"))
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(HostilePrograms)
    if HostilePrograms.options.name:
        # Where the keeper asks is a matter of its own.
        tests = unittest.TestSuite(test for test in tests if ".test_the_keeper_" not in test.id())
    result = unittest.TextTestRunner(verbosity=0 if HostilePrograms.options.table else 2).run(tests)
    if HostilePrograms.options.table:
        found = [got for _, got in HostilePrograms.results.values()]
        print("%d programs; got something: from the service %d, from the keeper %d" % (
            len(found), sum(got["service"] != "nothing" for got in found), sum(got["keeper"] != "nothing" for got in found)))
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
