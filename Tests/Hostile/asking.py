"""Where the keeper asks, and what becomes of a question when that place goes: tests of root and of the person, with a real keeper.

Hostile programs of `programs.py` attack the same settings.
"""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import termios
import threading

from rig import HOME, LIBC, PERSON, PRIVATE, PROGRAMS, Screen, lives, wait_for

DATA = "Pay 12 EUR to Anna"
# Above a login and a finger, and after a question that was cut.
START = "Enter starts the login, Ctrl-D declines: "
PAUSE = "Press Enter to see the next question: "
DECLINE = b"\x04"


def secret(name):
    with open(PRIVATE + "/" + name) as file:
        return file.read()


def processes(word):
    """The processes that have a word in their command lines."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % name) as file:
                if word in file.read() and lives(int(name)):
                    found.append(int(name))
        except OSError:
            pass
    return found


def hang_up(path):
    """What a login does with its terminal."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.setsid()
        os.open(path, os.O_RDWR)
        LIBC.vhangup()
        os._exit(0)
    os.waitpid(child, 0)


class Asked:
    """A command of the person that runs while somebody answers elsewhere."""

    def __init__(self, world, *words, **more):
        self.done = None

        def run():
            self.done = world.ctl(*words, **more)

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def end(self):
        self.thread.join()
        return self.done


class KeeperAsks:
    """For a test case that has a `machine`."""

    @contextlib.contextmanager
    def keeper(self, asks, screen=None):
        """The keeper with a setting, unlocked, and a login password."""
        world = self.machine.worlds["keeper"]
        world.stop()
        world.asks, world.next_screen = asks, screen
        world.start()
        self.machine.allow_login("password")
        self.machine.forget_logins()
        world.must("unlock", passcode=True)
        try:
            yield world
        finally:
            self.machine.allow_login(False)
            world.stop()
            world.asks = "client"
            world.start()

    def near(self, world):
        """Asks for an item behind the login, up to the question for the password."""
        asked = Asked(world, "get", "near")
        # An empty answer goes on to the login.
        world.screen.wait("phrase of voice: ")
        world.screen.type("")
        world.screen.wait(START)
        world.screen.type("")
        world.screen.wait("login password: ")
        return asked

    def sign(self, world):
        """Has a text signed, up to the question whether it is accepted."""
        asked = Asked(world, "transaction", "sign", "signer", stdin="data")
        # An empty answer goes on to the login.
        world.screen.wait("phrase of voice: ")
        world.screen.type("")
        world.screen.wait(DATA)
        world.screen.wait("? [y/N] ")
        return asked

    def test_the_keeper_asks_on_its_terminal(self):
        with self.keeper("terminal") as world:
            status = json.loads(world.ctl("keeper", "status", "--json").out)
            self.assertEqual((status["asks"], status["terminal"], status["yes"]), ("terminal", world.screen.path, "keeper"))
            self.assertTrue(status["logins"])
            about = os.stat(world.screen.path)
            self.assertEqual((about.st_uid, about.st_mode & 0o777), (world.owner, 0o600))
            for password, exit in (("canary-login-wrong", 3), (secret("login"), 0)):
                near = self.near(world)
                world.screen.type(password)
                if exit == 0:
                    # An empty answer allows this use alone.
                    world.screen.wait("allow it? ")
                    world.screen.type("")
                done = near.end()
                self.assertEqual(done.exit, exit, done.err)
                self.assertEqual(done.out, secret("near") if exit == 0 else "")
                self.assertNotIn("login password", done.err)
                if exit != 0:
                    # The person expects no question of another command.
                    listed = Asked(world, "get", "guarded")
                    world.screen.wait(PAUSE)
                    world.screen.type("")
                    world.screen.wait("vault passcode: ")
                    os.write(world.screen.master, DECLINE)
                    self.assertEqual(listed.end().exit, 5)
            self.assertEqual(
                self.machine.logins(), ["begin hostile-person", "end", "counted", "begin hostile-person", "end"])
            guarded = Asked(world, "get", "guarded")
            world.screen.wait("vault passcode: ")
            world.screen.type(secret("passcode"))
            self.assertEqual(guarded.end().out, secret("guarded"))
            self.assertNotIn("canary", world.screen.read())

    def asked_by(self, world, *command):
        """The line of the prompt that names who has started the command."""
        asked = threading.Thread(target=world.run, args=([*command], None, {}, None))
        asked.start()
        world.screen.wait("asked by ")
        world.screen.wait("\n")
        line = world.screen.before
        world.screen.wait("phrase of voice: ")
        # Ctrl-D declines, for each question.
        while asked.is_alive():
            os.write(world.screen.master, b"\x04")
            asked.join(0.2)
        return line

    def test_the_keeper_names_the_file_of_a_program(self):
        """Root tells it: the kernel does not say it to another user. A program with a file system of its own is not named by a path
        that it has chosen."""
        get = "vaultctl get near --vault keeper:; true"
        person = "setpriv --reuid %d --regid %d --clear-groups " % (PERSON, PERSON)
        with self.keeper("terminal") as world:
            world.environment["PATH"] = PROGRAMS + ":/usr/bin:/bin"
            shell = os.path.realpath("/bin/sh")
            self.assertIn(shell + " (process", self.asked_by(world, "/bin/sh", "-c", "%s sh -c '%s'" % (person, get)))
            forged = "cp %s %s/forged; mount --bind %s/forged /usr/bin/true; exec %s /usr/bin/true -c '%s'" % (
                shell, PROGRAMS, PROGRAMS, person, get)
            line = self.asked_by(world, "unshare", "-m", "/bin/sh", "-c", forged)
            self.assertIn("a program whose file is not known", line)
            self.assertNotIn("/usr/bin/true", line)

    def test_the_keeper_takes_a_yes_on_its_terminal(self):
        with self.keeper("terminal") as world:
            for answer, exit in (("n", 5), ("y", 0)):
                signed = self.sign(world)
                world.screen.type(answer)
                if exit == 0:
                    world.screen.wait(START)
                    world.screen.type("")
                    world.screen.wait("login password: ")
                    world.screen.type(secret("login"))
                done = signed.end()
                self.assertEqual(done.exit, exit, done.err)
                self.assertNotIn("[y/N]", done.err)

    def test_the_keeper_drops_what_was_typed_for_a_question_that_was_cut(self):
        """A program kills the command whose question stands, and the next question is that of its own command, for the same item."""
        with self.keeper("terminal") as world:
            passcode = secret("passcode")
            for waits in (False, True):
                for typed, rest in ((passcode[:9], passcode[9:]), ("", passcode)):
                    with self.subTest(waits=waits, typed=len(typed)):
                        first = Asked(world, "get", "guarded")
                        world.screen.wait("vault passcode: ")
                        command = world.last_number
                        second = Asked(world, "get", "guarded") if waits else None
                        os.write(world.screen.master, typed.encode())
                        os.kill(command, signal.SIGKILL)
                        second = second or Asked(world, "get", "guarded")
                        self.assertEqual(first.end().exit, -signal.SIGKILL)
                        world.screen.wait(PAUSE)
                        self.assertNotIn("guarded", world.screen.read())
                        world.screen.type(rest)
                        # The question comes, and with it no word of a wrong answer.
                        world.screen.wait("read the secret: 'guarded'")
                        world.screen.wait("an empty answer cancels")
                        world.screen.wait("vault passcode: ")
                        os.write(world.screen.master, DECLINE)
                        done = second.end()
                        self.assertEqual((done.exit, done.out), (5, ""), done.err)
            # It is asked once.
            guarded = Asked(world, "get", "guarded")
            world.screen.wait("vault passcode: ")
            world.screen.type(passcode)
            self.assertEqual(guarded.end().out, secret("guarded"))
            self.assertNotIn("canary", world.screen.read())

    def test_the_keeper_drops_an_answer_to_a_login_that_was_cut(self):
        """The same with a question of PAM, and with the Enter before it."""
        with self.keeper("terminal") as world:
            for standing in ("login password: ", START):
                with self.subTest(standing):
                    near = Asked(world, "get", "near")
                    world.screen.wait("phrase of voice: ")
                    command = world.last_number
                    world.screen.type("")
                    world.screen.wait(START)
                    if standing != START:
                        world.screen.type("")
                        world.screen.wait(standing)
                    os.kill(command, signal.SIGKILL)
                    near.end()
                    second = Asked(world, "get", "near")
                    world.screen.wait(PAUSE)
                    world.screen.type(secret("login"))
                    world.screen.wait("phrase of voice: ")
                    os.write(world.screen.master, DECLINE)
                    done = second.end()
                    self.assertEqual(done.out, "", done.err)
                    self.assertNotEqual(done.exit, 0)

    def test_the_keeper_names_the_request_before_a_login_that_asks_nothing(self):
        """A module with a sensor of its own shows nothing of the item or the program: the keeper does, and waits for Enter."""
        for answer, exit in ((DECLINE, 5), (b"\n", 0)):
            with self.keeper("terminal") as world:
                self.machine.allow_login(True)
                near = Asked(world, "get", "near")
                world.screen.wait("phrase of voice: ")
                world.screen.type("")
                for line in ("read the secret: 'near'", "asked by ", "through ", START):
                    world.screen.wait(line)
                os.write(world.screen.master, answer)
                if exit == 0:
                    world.screen.wait("allow it? ")
                    world.screen.type("")
                done = near.end()
                self.assertEqual((done.exit, done.out), (exit, secret("near") if exit == 0 else ""), done.err)

    def test_the_keeper_takes_no_verdict_while_its_terminal_was_gone(self):
        """PAM judges while the terminal is taken away: who has it by then may have typed the password."""
        with self.keeper("terminal") as world:
            near = self.near(world)
            open(PRIVATE + "/login-hold", "w").close()
            world.screen.type(secret("login"))
            wait_for("a login that is judged", lambda: self.machine.logins()[-1:] == ["begin hostile-person"])
            os.chown(world.screen.path, 0, 0)
            os.unlink(PRIVATE + "/login-hold")
            done = near.end()
            self.assertEqual((done.exit, done.out), (6, ""), done.err)
            self.assertIn("is not its terminal any more", done.err)

    def test_the_keeper_asks_nowhere_else_when_its_terminal_goes(self):
        def take(screen):
            """As a login does; a program of the person whose terminal it becomes types there."""
            os.chown(screen.path, 0, 0)
            screen.type("y")

        def hang(screen):
            os.chown(screen.path, 0, 0)
            hang_up(screen.path)

        def end(screen):
            screen.close()

        for deed, exits in ((take, [6]), (hang, [5, 6]), (end, [5, 6])):
            with self.subTest(deed.__name__), self.keeper("terminal") as world:
                signed = self.sign(world)
                deed(world.screen)
                done = signed.end()
                self.assertIn(done.exit, exits, done.err)
                again = world.ctl("get", "guarded")
                self.assertEqual((done.out, again.out, again.exit), ("", "", 6))
                self.assertIn("is not its terminal any more", again.err)
                self.assertNotIn("[y/N]", done.err)

    def test_the_keeper_ends_what_verifies_logins_with_it(self):
        with self.keeper("terminal") as world:
            near = self.near(world)
            self.assertEqual(len(processes(PROGRAMS + "/vault-pam")), 1)
            os.kill(world.process, signal.SIGKILL)
            self.assertEqual(near.end().exit, 13)
            wait_for("the end of the processes of root", lambda: not processes(PROGRAMS + "/vault-pam") and not processes("--logins="))

    def test_the_keeper_without_the_process_for_logins_says_so(self):
        with self.keeper("client") as world:
            for process in processes("--logins="):
                os.kill(process, signal.SIGKILL)
                wait_for("the end of the process for logins", lambda: not lives(process))
            status = world.ctl("keeper", "status")
            self.assertIn("the process of root that verifies login passwords has ended; as root: start the keeper again", status.out)
            self.assertFalse(json.loads(world.ctl("keeper", "status", "--json").out)["logins"])
            # The passcode is the other way to be present.
            done = world.ctl("get", "near")
            self.assertEqual((done.exit, done.out), (6, ""))
            self.assertEqual(world.must("get", "near", passcode=True).out, secret("near"))

    def test_the_keeper_gets_no_terminal_on_which_others_could_answer(self):
        world = self.machine.worlds["keeper"]
        world.stop()
        master, slave = os.openpty()
        own = os.ttyname(slave)
        session_master, session_slave = os.openpty()
        session = os.ttyname(session_slave)
        shell = subprocess.Popen(
            ["sleep", "600"], stdin=session_slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        free_master, free_slave = os.openpty()
        free = os.ttyname(free_slave)
        os.close(free_slave)
        link = "/dev/hostile-link"
        os.symlink(free, link)
        os.chown(own, PERSON, -1)
        try:
            for path, why in (
                ("/dev/null", "is no terminal"), ("/dev/nowhere", "is missing"), ("/dev/pts/nowhere", "is missing"),
                (own, "belongs to user %d" % PERSON), (session, "belongs to a session"), (link, "is a link"),
                ("/dev/../dev/null", "is no path of a terminal"), ("/etc/passwd", "is no path of a terminal"),
                ("dev/tty8", "is no path of a terminal"), ("/dev//null", "is no path of a terminal"), ("/dev/shm/x", "others than root"),
                (HOME + "/tty", "is no path of a terminal"), ("/dev/ptmx", None), ("/dev/pts", None), ("/dev/tty", None),
            ):
                done = world.run(
                    [PROGRAMS + "/vault-keeper", "start", str(PERSON), "--ask", "terminal", "--terminal", path], None, {}, user=None)
                self.assertEqual(done.exit, 1, path)
                self.assertIn(why or path, done.err, path)
            for words in (["--ask"], ["--ask", "me"], ["--ask", "terminal"], ["--ask", "unlocker"], ["--ask", "pinentry"], ["--terminal", free]):
                done = world.run([PROGRAMS + "/vault-keeper", "start", str(PERSON), *words], None, {}, user=None)
                self.assertEqual(done.exit, 2, words)
            self.assertTrue(shell.poll() is None)
        finally:
            shell.kill()
            shell.wait()
            os.unlink(link)
            for descriptor in (master, slave, session_master, session_slave, free_master):
                os.close(descriptor)
            world.start()

    def test_the_keeper_hangs_its_terminal_up_before_it_asks_there(self):
        """A program that had it open before would read the answers."""
        screen = Screen()
        kept = os.open(screen.path, os.O_RDWR | os.O_NOCTTY)
        try:
            with self.keeper("terminal", screen):
                with self.assertRaises(OSError):
                    os.write(kept, b"x")
                screen.type("for the keeper alone")
                self.assertEqual(os.read(kept, 100), b"")
        finally:
            os.close(kept)
