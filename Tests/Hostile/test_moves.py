#!/usr/bin/env python3
"""Kills `vaultctl keeper adopt` and `keeper leave`, and the keeper in them, at each system call that names, writes or sends something.

usage: test_moves.py [--programs DIRECTORY] [--short]

After each kill exactly one side has a vault that opens: the person's file or the keeper's. The same command then completes the move.
--short kills at a few of them, for scripts/test. The programs are those of test_hostile.py; it needs root and strace.
"""
import argparse
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

import rig

HERE = os.path.dirname(os.path.abspath(__file__))
FILE = rig.HOME + "/.local/share/vaultctl/default.vault"
AS_PERSON = ["setpriv", "--reuid", str(rig.PERSON), "--regid", str(rig.PERSON), "--clear-groups"]
STATE = "/var/lib/vaultd/%d" % rig.PERSON
# What changes a file or a name, or is seen by the other process.
CALLS = (
    "openat", "unlink", "rename", "renameat2", "linkat", "mkdir", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "sendmsg",
    "recvmsg", "close")


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Side:
    """Where the vault is: whose item can be read."""

    def __init__(self, machine):
        self.machine = machine
        self.keeper = rig.KeeperWorld(machine)

    def ctl(self, *words, **given):
        return self.keeper.run([rig.PROGRAMS + "/vaultctl", *words], None, given, user=rig.PERSON)

    def must(self, *words, **given):
        done = self.ctl(*words, **given)
        if done.exit != 0:
            raise rig.Broken("'%s' ended with %d: %s" % (" ".join(words), done.exit, done.err))

    def told(self, *words):
        done = self.ctl(*words, passcode=True)
        return done.exit, done.err

    def has(self, vault):
        """Whether the item is read from a vault: '' or why not."""
        done = self.ctl("get", "mail", "--vault", vault, passcode=True)
        return "" if done.exit == 0 and done.out else "%d %s" % (done.exit, done.err.strip())

    def opens(self):
        """The sides whose vault opens. The second one is asked again: the command to the keeper may end a move."""
        first = not self.has(FILE)
        keepers = self.has("keeper:")
        second = not self.has(FILE)
        return first, second, not keepers, keepers


class Moves(unittest.TestCase):
    options = None

    @classmethod
    def setUpClass(cls):
        found = {name: os.path.join(cls.options.programs, name) for name in ("vaultd", "vaultctl", "vault-keeper", "vault-pam")}
        found["vault-pam"] = cls.options.pam or found["vault-pam"]
        for name, path in found.items():
            if not os.path.isfile(path):
                raise AssertionError("there is no %s at %s: build it first" % (name, path))
        if not shutil.which("strace"):
            raise AssertionError("strace is missing: scripts/install-deps")
        cls.machine = machine = rig.Rig(found)
        machine.make_base()
        cls.side = Side(machine)
        cls.side.must("init", "--no-recovery-code", passcode=True)
        source = cls.side.keeper.run([rig.PROGRAMS + "/vaultctl", "add", "mail"], "mail", {"passcode": True}, user=rig.PERSON)
        if source.exit != 0:
            raise rig.Broken(source.err)
        code = cls.side.keeper.run([rig.PROGRAMS + "/vaultctl", "otp", "add", "codes"], "codes", {"passcode": True}, user=rig.PERSON)
        if code.exit != 0:
            raise rig.Broken(code.err)
        cls.start()
        # A vault that is moved is no copy: before the files are put back as copies.
        told = [cls.side.told("code", "codes")]
        cls.side.must("keeper", "adopt", passcode=True)
        told.append(cls.side.told("code", "codes", "--vault", "keeper:"))
        for path in ("/proc/x.vault", rig.HOME + "/" + 250 * "n"):
            if cls.side.ctl("keeper", "leave", path, passcode=True).exit == 0:
                raise rig.Broken("a vault was moved to %s" % path)
        told.append(cls.side.told("code", "codes", "--vault", "keeper:"))
        cls.stop()
        cls.inside = cls.files()
        cls.start()
        cls.side.must("keeper", "leave", passcode=True)
        told.append(cls.side.told("code", "codes"))
        cls.told = told
        cls.stop()
        shutil.rmtree(STATE + "/left")
        cls.outside = cls.files()
        cls.addClassCleanup(cls.stop)

    # The two sides as files.

    @staticmethod
    def files():
        """Everything of both sides: path, owner, mode, content; a directory has none."""
        found = {}
        for top in (rig.HOME + "/.local", STATE):
            for folder, _, names in os.walk(top):
                for path in [folder] + [os.path.join(folder, name) for name in names]:
                    about = os.lstat(path)
                    content = None if os.path.isdir(path) else read(path)
                    found[path] = (about.st_uid, about.st_mode & 0o7777, content)
        return found

    @classmethod
    def put(cls, files):
        for top in (rig.HOME + "/.local", STATE):
            shutil.rmtree(top, ignore_errors=True)
        for path, (owner, mode, content) in files.items():
            if content is None:
                os.makedirs(path, exist_ok=True)
                os.chmod(path, mode)
                os.chown(path, owner, owner)
            else:
                rig.write(path, content, owner=owner, mode=mode)

    def tearDown(self):
        self.stop()

    @classmethod
    def start(cls):
        cls.side.keeper.start()

    @classmethod
    def stop(cls):
        cls.side.keeper.stop()

    # One run.

    def command(self, words, trace, given="passcode"):
        """The command of the person, under strace."""
        secret = os.open(rig.PRIVATE + "/" + given, os.O_RDONLY)
        try:
            process = subprocess.run(
                [*trace, rig.PROGRAMS + "/vaultctl", *words, "--%s-fd" % given, str(secret)], pass_fds=[secret], capture_output=True,
                env=self.side.keeper.environment, cwd="/", stdin=subprocess.DEVNULL, timeout=60)
        finally:
            os.close(secret)
        return process.returncode, process.stderr.decode(errors="replace")

    def run_under(self, words, victim, what, log="/run/strace.log"):
        """Runs the command with `what` done to the victim: the command or the keeper."""
        options = ["strace", "-f", "-qq", "-o", log, *what]
        if victim == "command":
            return self.command(words, [*options, "-u", "hostile-person"])
        tracer = subprocess.Popen([*options, "-p", str(self.side.keeper.process)], stderr=subprocess.DEVNULL)
        # It says nothing when it has attached; the kernel does.
        rig.wait_for("strace", lambda: self.traced(self.side.keeper.process))
        try:
            return self.command(words, AS_PERSON)
        finally:
            # One that has killed a thread may wait for it for ever.
            tracer.kill()
            tracer.wait()

    @staticmethod
    def traced(process):
        for thread in os.listdir("/proc/%d/task" % process):
            with open("/proc/%d/task/%s/status" % (process, thread)) as file:
                if "TracerPid:\t0\n" in file.read():
                    return False
        return True

    def points(self, words, victim, before):
        """The calls of an undisturbed run: each as (name, which one of that name)."""
        self.put(before)
        self.start()
        exit, err = self.run_under(words, victim, ["-e", "trace=" + ",".join(CALLS)])
        self.assertEqual(exit, 0, err)
        counted = collections.Counter()
        found = []
        for line in read("/run/strace.log").decode(errors="replace").splitlines():
            rest = line.split(None, 1)[1] if " " in line else ""
            name = rest.split("(", 1)[0]
            if name in CALLS:
                counted[name] += 1
                found.append((name, counted[name]))
        return found

    def kill_all(self, words, victim, before, ends_at):
        points = self.points(words, victim, before)
        if self.options.short:
            # Some while the second file is made, and some of the last ones, which decide.
            points = points[len(points) // 4::len(points) // 5][:3] + points[-40::10]
        sides = collections.Counter()
        for name, number in points:
            with self.subTest("%s killed at %s %d" % (victim, name, number)):
                self.stop()
                self.put(before)
                self.start()
                self.run_under(
                    words, victim, ["-e", "trace=" + name, "-e", "inject=%s:signal=KILL:when=%d" % (name, number)])
                if victim == "keeper":
                    # It can be alive for another moment.
                    os.kill(self.side.keeper.process, signal.SIGKILL)
                    os.waitpid(self.side.keeper.process, 0)
                    self.side.keeper.process = None
                    self.start()
                # Each second time, the first that a person does is the same again.
                if number % 2 == 0:
                    self.command(words, AS_PERSON)
                first, second, keepers, why = self.side.opens()
                self.assertEqual(first, second, "the command to the keeper has changed what the file is")
                self.assertNotEqual(first, keepers, "file %s, keeper %s (%s)" % (first, keepers, why))
                sides["keeper" if keepers else "file"] += 1
                if keepers != (ends_at == "keeper"):
                    self.assertEqual(self.command(words, AS_PERSON)[0], 0)
                    first, second, keepers, why = self.side.opens()
                    self.assertEqual((first, second, keepers), (ends_at == "file", ends_at == "file", ends_at == "keeper"), why)
                self.no_second(ends_at)
        print("%s, %s killed at %d calls: the vault was then %s" % (" ".join(words), victim, len(points), json.dumps(sides)), flush=True)
        if not self.options.short:
            self.assertEqual(len(sides), 2, "all kills fell to one side")

    def no_second(self, ends_at):
        """Nothing of the side that has it no more opens: neither a file nor a key is there."""
        if ends_at == "keeper":
            left = [path for path in self.files() if path.startswith(rig.HOME) and path.endswith((".vault", ".key", "-keeper"))]
        else:
            left = [path for path in self.files() if path.startswith(STATE) and path.endswith(".vault") and "/left/" not in path]
        self.assertEqual(left, [], "what is left on the other side")

    def must(self, *words, **given):
        done = self.side.ctl(*words, **given)
        self.assertEqual(done.exit, 0, "%s: %s" % (" ".join(words), done.err))
        return done

    def test_a_moved_vault_is_no_copy(self):
        """Its codes go on, and nothing warns: after each move, and after one that failed."""
        self.assertEqual(self.told, [(0, "")] * 4)

    def test_a_copy_that_was_left_costs_no_key(self):
        """A keeper that was killed while it copied its vault has a second file that names the key of the first."""
        self.put(self.inside)
        vault = STATE + "/.local/share/vaultctl/default.vault"
        os.makedirs(STATE + "/moving", 0o700, exist_ok=True)
        os.chown(STATE + "/moving", rig.KEEPER, rig.KEEPER)
        rig.write(STATE + "/moving/default.vault", read(vault), owner=rig.KEEPER)
        self.start()
        self.assertNotEqual(self.side.ctl("keeper", "leave", rig.HOME + "/" + 250 * "n", passcode=True).exit, 0)
        self.assertEqual(self.side.opens()[:3], (False, False, True))
        self.must("keeper", "leave", passcode=True)
        self.assertEqual(self.side.opens()[:3], (True, True, False))

    def test_what_is_not_there_decides_nothing(self):
        """A disk that is not mounted and a file that was moved away leave the move as it is, until root decides."""
        # The last of these calls that comes before the file is renamed.
        self.put(self.outside)
        self.start()
        self.run_under(["keeper", "adopt"], "command", ["-e", "trace=rename", "-e", "inject=rename:signal=KILL:when=1"])
        self.assertTrue(os.path.exists(FILE))
        os.rename(FILE, FILE + ".elsewhere")
        for words in (["keeper", "status"], ["ls", "--vault", "keeper:"], ["lock", "--vault", "keeper:"]):
            done = self.side.ctl(*words)
            self.assertEqual(done.exit, 13, words)
            self.assertIn("keeper settle person|keeper", done.err)
        refused = self.side.keeper.run(
            [rig.PROGRAMS + "/vault-keeper", "run", str(rig.PERSON), "--", "ls"], None, {}, user=None)
        self.assertEqual(refused.exit, 1)
        self.assertIn("on its way", refused.err)
        self.side.keeper.administer("keeper", "settle", "person")
        os.rename(FILE + ".elsewhere", FILE)
        self.assertEqual(self.side.opens()[:3], (True, True, False))
        self.must("keeper", "adopt", passcode=True)
        self.assertEqual(self.side.opens()[:3], (False, False, True))

    def test_a_command_that_hangs_in_a_move_is_named(self):
        """All others are told at once which process it is; its end ends the move."""
        self.put(self.outside)
        self.start()
        log = "/run/hangs.log"
        rig.write(log, b"", owner=0)
        secret = os.open(rig.PRIVATE + "/passcode", os.O_RDONLY)
        hangs = subprocess.Popen(
            ["strace", "-f", "-o", log, "-e", "trace=rename", "-e", "inject=rename:signal=STOP:when=1", "-u", "hostile-person",
             rig.PROGRAMS + "/vaultctl", "keeper", "adopt", "--passcode-fd", str(secret)],
            pass_fds=[secret], env=self.side.keeper.environment, cwd="/", stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(secret)
        try:
            stopped = rig.wait_for("the command to hang", lambda: self.stopped(log))
            done = self.side.ctl("ls", "--vault", "keeper:")
            self.assertEqual(done.exit, 13, done.err)
            self.assertIn("process %d is moving the vault of the keeper" % stopped, done.err)
            os.kill(stopped, signal.SIGKILL)
        finally:
            hangs.kill()
            hangs.wait()
        first, second, keepers, why = self.side.opens()
        self.assertEqual(first, second)
        self.assertNotEqual(first, keepers, why)

    @staticmethod
    def stopped(log):
        """The process that has stopped by what strace says of one of its threads; None while it has not."""
        for line in read(log).decode(errors="replace").splitlines():
            if "--- stopped by SIGSTOP ---" in line:
                with open("/proc/%s/status" % line.split()[0]) as file:
                    return int(re.search(r"^Tgid:\s*(\d+)", file.read(), re.M).group(1))
        return None

    def test_an_option_that_no_move_follows_is_refused_first(self):
        """Also where there is no keeper."""
        self.put(self.outside)
        for verb in ("adopt", "leave"):
            self.assertEqual(self.side.ctl("keeper", verb, "--vault", FILE).exit, 2)

    def test_adopt_and_the_command_is_killed(self):
        self.kill_all(["keeper", "adopt"], "command", self.outside, "keeper")

    def test_adopt_and_the_keeper_is_killed(self):
        self.kill_all(["keeper", "adopt"], "keeper", self.outside, "keeper")

    def test_leave_and_the_command_is_killed(self):
        self.kill_all(["keeper", "leave"], "command", self.inside, "file")

    def test_leave_and_the_keeper_is_killed(self):
        self.kill_all(["keeper", "leave"], "keeper", self.inside, "file")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--programs", default=os.path.join(HERE, "../../.build/release"))
    parser.add_argument("--pam")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("name", nargs="*")
    try:
        rig.enter()
    except rig.Broken as error:
        sys.exit("test_moves.py: %s" % error)
    Moves.options = parser.parse_args()
    unittest.main(argv=["test_moves.py", *Moves.options.name], verbosity=2, warnings="ignore")


if __name__ == "__main__":
    main()
