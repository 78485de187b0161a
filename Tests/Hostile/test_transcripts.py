#!/usr/bin/env python3
"""Replays Tests/Transcripts with a keeper that has the vault. What differs, and is meant to, is in DIFFERENCES.

usage: test_transcripts.py --programs DIRECTORY

DIRECTORY has the programs of a test world, vaultctl-testing and vaultd-testing, vault-keeper and vault-pam. It needs root.
The person who types is a user of the rig; what only an administrator may do, root does on the same terminal.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import rig

HERE = pathlib.Path(__file__).resolve().parent
TRANSCRIPTS = HERE.parent / "Transcripts"
# Verbs that an administrator runs: docs/guides/keeper.md, "What a person must do".
ROOTS = ("init", "backup", "restore", "passcode", "recovery-code", "vault rotate device-key", "biometry enroll", "doctor")

# `vaultctl` in the shell of a transcript: root's verbs in the place of the keeper, with files in a directory of the keeper; all others as the
# person, and those that name a vault or have another home without the keeper. In a shell the vault is locked after each command, so that a prompt comes where it
# comes without a keeper.
TOOL = """#!/bin/bash
person=%(person)d keeper=%(keeper)d programs=%(programs)s given=/run/given
chown -R $person:$person "$HOME" 2>/dev/null
as_person() { setpriv --reuid $person --regid $person --clear-groups env "$@"; }
case "$HOME $*" in */elsewhere\ * | *\ --vault\ *) as_person $programs/vaultctl "$@"; exit ;; esac
case "$*" in
%(roots)s)
  words=() previous= new= file=
  for word in "$@"; do
    case "$previous" in
    *-file)
      file=$(mktemp $given/XXXXXX)
      cat "$word" > "$file" && chown $keeper:$keeper "$file"
      word=$file ;;
    backup | --out) new=$word word=$given/$word ;;
    esac
    words+=("$word") previous=$word
  done
  $programs/vault-keeper run $person -- "${words[@]}"
  exit=$?
  [ -z "$new" ] || [ ! -e "$given/$new" ] || { (umask 077; cat "$given/$new" > "$new"); rm "$given/$new"; chown $person:$person "$new"; } ;;
*)
  as_person VAULTCTL_PATH=keeper: $programs/vaultctl "$@"
  exit=$? ;;
esac
case "$1" in
unlock | lock | agent | --*) ;;
*) [ ! -e /run/locks-after-each ] || as_person VAULTCTL_PATH=keeper: $programs/vaultctl lock > /dev/null 2>&1 ;;
esac
exit $exit
"""

# What a transcript shows differently: the beginning of a command, and why.
DIFFERENCES = {
    "vaultctl backup friday.vault": "root names a file in a directory of the keeper",
    "vaultctl audit": "the log has more entries: one for each lock",
}


def steps(text):
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and line and not line.startswith("#"):
            found[-1][1].append(line)
    return found


def matches(line, pattern):
    """Whether a line is as a transcript shows it: `…`, a number of many hexadecimal digits and a moment stand for anything."""
    pattern = re.sub(r"[0-9a-f]{16,}|\d{4}-\d\d-\d\dT[0-9:]+Z", "…", pattern)
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), line) is not None


def without_program(lines):
    """The lines but what a prompt says of the program that asks, and the rows in which that goes on."""
    kept, is_of_program = [], False
    for line in lines:
        begins = re.match(r"  (asked by|through|started by|in the unit|says: process \d+ is|says: it is) ", line)
        is_of_program = begins is not None or is_of_program and line.startswith("  + ")
        if not is_of_program:
            kept.append(line)
    return kept


class Transcripts(unittest.TestCase):
    options = None

    @classmethod
    def setUpClass(cls):
        found = {"vaultctl": "vaultctl-testing", "vaultd": "vaultd-testing", "vault-keeper": "vault-keeper", "vault-pam": "vault-pam"}
        cls.machine = rig.Rig({name: os.path.join(cls.options.programs, origin) for name, origin in found.items()})
        cls.machine.make_base()
        cls.keeper = rig.KeeperWorld(cls.machine)
        os.mkdir("/run/given", 0o700)
        os.chown("/run/given", rig.KEEPER, rig.KEEPER)
        cls.tools = "/run/tools"
        os.mkdir(cls.tools, 0o755)
        roots = "|".join("'%s'|'%s '*" % (verb, verb) for verb in ROOTS)
        rig.write(
            cls.tools + "/vaultctl",
            TOOL % {"person": rig.PERSON, "keeper": rig.KEEPER, "roots": roots, "programs": rig.PROGRAMS}, mode=0o755)

    def setUp(self):
        shutil.rmtree(self.keeper.state, ignore_errors=True)
        self.keeper.start()

    def tearDown(self):
        self.keeper.stop()

    def replay(self, program, *words):
        # The person passes through the directory of a transcript.
        environment = dict(os.environ, TMPDIR="/home")
        return subprocess.run(
            [sys.executable, "-B", str(TRANSCRIPTS / program), *map(str, words)], env=environment, capture_output=True, text=True)

    def test_transcripts_of_a_shell(self):
        rig.write("/run/locks-after-each", "", mode=0o644)
        self.addCleanup(os.unlink, "/run/locks-after-each")
        for path in sorted(TRANSCRIPTS.glob("*.transcript")):
            with self.subTest(path.name):
                done = self.replay("replay.py", path, self.tools)
                self.assertEqual(done.returncode, 0, done.stderr)
                shown, got = steps(path.read_text()), steps(done.stdout)
                self.assertEqual([command for command, _ in shown], [command for command, _ in got])
                for (command, lines), (_, other) in zip(shown, got):
                    other = without_program(other)
                    is_same = len(lines) == len(other) and all(map(matches, other, lines))
                    reason = next((why for start, why in DIFFERENCES.items() if command.startswith(start)), None)
                    with self.subTest(command):
                        self.assertEqual(
                            is_same, reason is None, "$ %s\n%s\nkeeper:\n%s\n%s" % (command, "\n".join(lines), "\n".join(other), reason))
            self.tearDown()
            self.setUp()

    def test_transcripts_of_screens(self):
        for path in sorted(TRANSCRIPTS.glob("*.screens")):
            with self.subTest(path.name):
                done = self.replay("screens", self.tools + "/vaultctl", path)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.tearDown()
            self.setUp()


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--pam", help="unused: nobody asks PAM in a transcript")
    parser.add_argument("--programs", default=str(HERE.parent.parent / ".build/release"))
    try:
        rig.enter()
    except rig.Broken as error:
        sys.exit("test_transcripts.py: %s" % error)
    Transcripts.options = parser.parse_args()
    unittest.main(argv=["test_transcripts.py"], verbosity=2, warnings="ignore")


if __name__ == "__main__":
    main()
