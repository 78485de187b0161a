"""A small machine for the tests of the keeper: accounts, directories, two vaults, and a person who uses them.

Nothing of it is on the real machine. `enter` puts this process into mount and process namespaces of its own. There, /run, /var/lib and
/home are empty file systems in memory, and /etc/passwd, /etc/group and /etc/pam.d are copies. When this process ends, the kernel ends
every other process of the namespace and drops the file systems.

The person has the same items in two worlds:

  keeper    the vault is in the keeper, under the user id KEEPER
  service   the vault is in the home directory of the person, and the agent runs as the person

The rig knows the passcode and the PIN of the person. They are in files that root alone can read, and a command of the person gets them
as open descriptors. So a hostile program, which runs as the person, finds them neither in a file nor in its own memory.

Read `World` first, then `Rig`. `programs.py` has the hostile programs.
"""
import collections
import ctypes
import fcntl
import hashlib
import json
import os
import re
import secrets
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

PERSON, KEEPER, OTHER, OTHER_KEEPER = 61001, 61002, 61003, 61004
HOME = "/home/hostile-person"
PROGRAMS = "/run/programs"
# For root alone: the secrets of the person, and what the processes print.
PRIVATE = "/run/rig"
PATIENCE = 30
PIN_LIMIT = 5

ACCOUNTS = [
    ("hostile-person", PERSON, HOME),
    ("vaultd-%d" % PERSON, KEEPER, "/var/lib/vaultd/%d" % PERSON),
    ("hostile-other", OTHER, "/home/hostile-other"),
    ("vaultd-%d" % OTHER, OTHER_KEEPER, "/var/lib/vaultd/%d" % OTHER),
]

LIBC = ctypes.CDLL(None, use_errno=True)
Done = collections.namedtuple("Done", "exit out err")


class Broken(Exception):
    """The rig does not work. This says nothing about the programs under test."""


# --- The namespace


def enter():
    """Starts this program again in namespaces of its own, unless it is there already."""
    if os.environ.get("HOSTILE_RIG") == "inside":
        return
    if os.geteuid() != 0:
        raise Broken("the hostile programs need root: it makes accounts and namespaces for them")
    os.environ["HOSTILE_RIG"] = "inside"
    os.execvp("unshare", [
        "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
        sys.executable, "-B", *sys.argv])


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        raise Broken("%s: %s" % (" ".join(words), done.stderr.strip()))


def wait_for(what, condition, patience=PATIENCE):
    """Waits until `condition` gives something true, and returns it."""
    end = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise Broken("waited %d s in vain: %s" % (patience, what))
        time.sleep(0.01)


def lives(process):
    """Whether a process is there and is more than a line in the table of processes."""
    try:
        with open("/proc/%d/stat" % process) as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def write(path, content, owner=0, mode=0o600):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(file, "wb") as stream:
        stream.write(content if isinstance(content, bytes) else content.encode())
        os.fchown(stream.fileno(), owner, owner)
        os.fchmod(stream.fileno(), mode)


# --- The machine


class Rig:
    """The machine: file systems, accounts, programs, and the secrets of the person."""

    def __init__(self, programs):
        if os.environ.get("HOSTILE_RIG") != "inside":
            raise Broken("call rig.enter() first")
        self.programs = programs
        self.worlds = {}

    def make_base(self):
        """File systems, accounts, programs and secrets: no vault."""
        for path in ("/run", "/var/lib", "/home"):
            call("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", path)
        os.mkdir(PRIVATE, 0o700)
        self.make_accounts()
        self.install()
        self.make_secrets()

    def make(self):
        self.make_base()
        for name, kind in (("keeper", KeeperWorld), ("service", ServiceWorld)):
            self.worlds[name] = kind(self)
            self.worlds[name].make()
        self.allow_login(False)

    def make_accounts(self):
        for path, lines in (
            ("/etc/passwd", ["%s:x:%d:%d::%s:/bin/sh" % (name, user, user, home) for name, user, home in ACCOUNTS]),
            ("/etc/group", ["%s:x:%d:" % (name, user) for name, user, home in ACCOUNTS]),
        ):
            with open(path) as file:
                content = file.read().rstrip("\n") + "\n" + "\n".join(lines) + "\n"
            copy = PRIVATE + "/" + os.path.basename(path)
            write(copy, content, mode=0o644)
            call("mount", "--bind", copy, path)
        shutil.copytree("/etc/pam.d", PRIVATE + "/pam.d")
        self.allow_login(True)
        call("mount", "--bind", PRIVATE + "/pam.d", "/etc/pam.d")
        for name, user, home in ACCOUNTS:
            if home.startswith("/home/"):
                os.mkdir(home, 0o700)
                os.chown(home, user, user)
        os.mkdir("/run/user", 0o755)
        for end in ("", "/keeper", "/service"):
            os.mkdir("/run/user/%d%s" % (PERSON, end), 0o700)
            os.chown("/run/user/%d%s" % (PERSON, end), PERSON, PERSON)

    def allow_login(self, allowed):
        """Whether PAM takes the person for present: always while the vaults are made, and never afterwards. "password": with a login password,
        for root alone, whose attempts are in `logins`."""
        module = "pam_permit.so" if allowed else "pam_deny.so"
        lines = ["auth required " + module, "account required " + module]
        if allowed == "password":
            # A wrong password is counted by the step after it, as with pam_faillock.
            lines = [
                "auth [success=2 default=ignore] pam_exec.so expose_authtok quiet %s/login-check" % PRIVATE,
                "auth optional pam_exec.so quiet %s/login-count" % PRIVATE, "auth requisite pam_deny.so", "auth required pam_permit.so",
                "account required pam_permit.so"]
        write(PRIVATE + "/pam.d/vaultctl", "\n".join(lines) + "\n", mode=0o644)

    def logins(self):
        """The attempts at the login password since they were forgotten, as lines: "begin USER" and "end" of each, and "counted" for a
        wrong one."""
        try:
            with open(PRIVATE + "/login-log") as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def forget_logins(self):
        if os.path.exists(PRIVATE + "/login-log"):
            os.unlink(PRIVATE + "/login-log")

    def install(self):
        os.mkdir(PROGRAMS, 0o755)
        for name, origin in self.programs.items():
            shutil.copyfile(origin, PROGRAMS + "/" + name)
            os.chmod(PROGRAMS + "/" + name, 0o755)
        source = PROGRAMS + "/preloaded.c"
        write(source, PRELOADED, mode=0o644)
        compiler = next((found for found in map(shutil.which, ("cc", "gcc", "clang")) if found), None)
        if compiler is None:
            raise Broken("there is no C compiler (cc, gcc or clang) for the library that a hostile program preloads")
        call(compiler, "-shared", "-fPIC", "-O1", "-o", PROGRAMS + "/preloaded.so", source, "-ldl")
        os.chmod(PROGRAMS + "/preloaded.so", 0o755)

    def make_secrets(self):
        """Each secret is in a file of root. This process keeps their hashes alone, because hostile programs are its children."""
        self.hashes = {}
        names = ["passcode", "voice", "mail", "guarded", "near", "expiring", "card", "note"]
        for name in names:
            value = "canary-%s-%s" % (name, secrets.token_hex(12))
            write(PRIVATE + "/" + name, value)
            self.hashes[name] = hashlib.sha256(value.encode()).hexdigest()
        write(PRIVATE + "/login", "canary-login-%s" % secrets.token_hex(12))
        write(PRIVATE + "/login-check", LOGIN_CHECK, mode=0o700)
        write(PRIVATE + "/login-count", "#!/bin/sh\necho counted >> %s/login-log\n" % PRIVATE, mode=0o700)
        # What a signature is made with, and what is signed.
        write(PRIVATE + "/data", "Pay 12 EUR to Anna")
        write(PRIVATE + "/signer", secrets.token_hex(32))
        # The vault refuses the PINs that a thief tries first.
        write(PRIVATE + "/pin", "%06d" % (secrets.randbelow(400000) + 482913))
        for name in ("pinned", "codes"):
            key = "".join(secrets.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(32))
            write(PRIVATE + "/" + name, "otpauth://hotp/x?secret=%s&counter=0" % key)
            self.hashes[name] = hashlib.sha256(key.encode()).hexdigest()

    def end(self):
        for world in self.worlds.values():
            world.stop()


# What a hostile program preloads: it copies what the process reads, and has a clock of its own.
PRELOADED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

static void keep(const void *bytes, ssize_t count) {
  const char *loot = getenv("HOSTILE_LOOT");
  if (loot == NULL || count <= 0 || count > 4096) return;
  int file = open(loot, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, bytes, (size_t)count);
  close(file);
}

ssize_t read(int file, void *bytes, size_t count) {
  static ssize_t (*real)(int, void *, size_t);
  if (real == NULL) real = dlsym(RTLD_NEXT, "read");
  ssize_t result = real(file, bytes, count);
  keep(bytes, result);
  return result;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  long result = syscall(SYS_clock_gettime, clock, time);
  const char *back = getenv("HOSTILE_CLOCK_BACK");
  if (result == 0 && clock == CLOCK_REALTIME && back != NULL) time->tv_sec -= atol(back);
  return (int)result;
}
"""


# Judges a login password, as slowly as PAM does with a wrong one.
LOGIN_CHECK = r"""#!/bin/sh
typed=$(tr -d '\000')
echo "begin $PAM_USER" >> /run/rig/login-log
sleep 0.3
# A test that has to do something meanwhile.
while [ -e /run/rig/login-hold ]; do sleep 0.05; done
right=1
[ "$PAM_USER" = hostile-person ] && [ "$typed" = "$(cat /run/rig/login)" ] && right=0
echo end >> /run/rig/login-log
exit $right
"""


class Screen:
    """A terminal of root's, at which the person sits: a pseudo-terminal whose other end no program of the person has."""

    def __init__(self):
        self.master, slave = os.openpty()
        self.path = os.ttyname(slave)
        os.close(slave)
        os.set_blocking(self.master, False)
        self.shown = b""
        # What came before the last text that was waited for.
        self.before = ""

    def read(self):
        """All that it has shown."""
        try:
            while True:
                self.shown += os.read(self.master, 1 << 16)
        except (BlockingIOError, OSError):
            # The latter while nobody has it open.
            return self.shown.decode(errors="replace")

    def wait(self, text):
        wait_for("'%s' on the terminal of the keeper" % text, lambda: text in self.read())
        before, self.shown = self.shown.split(text.encode(), 1)
        self.before = before.decode(errors="replace")

    def type(self, line):
        os.write(self.master, line.encode() + b"\n")

    def close(self):
        if self.master is not None:
            os.close(self.master)
        self.master = None


# --- A vault and its person


class World:
    """A vault with its items, the process that has it open, and what the person does with it."""

    name = ""
    # Options that name the vault.
    vault = ()
    # The directories of vault, device key and witness.
    state = ""
    # Whose they are.
    owner = 0

    def __init__(self, rig):
        self.rig = rig
        self.process = None
        self.is_changed = False
        # What the administrator has set for the keeper.
        self.asks = "client"
        self.shell = None
        # Whether the person was served after the last hostile program.
        self.served = True
        self.environment = {
            "HOME": HOME, "XDG_RUNTIME_DIR": "/run/user/%d/%s" % (PERSON, self.name), "PATH": "/usr/bin:/bin", "TERM": "dumb", "LANG": "C.UTF-8"}

    # What the person does.

    def ctl(self, *words, stdin=None, patience=PATIENCE, **given):
        """Runs `vaultctl` as the person. `passcode=True` gives that secret; `stdin` names the file of a secret."""
        return self.run([PROGRAMS + "/vaultctl", *words, *self.vault], stdin, given, user=PERSON, patience=patience)

    def run(self, command, stdin, given, user, patience=PATIENCE):
        opened = []
        try:
            for channel in given:
                name = {"new_pin": "pin", "phrase": "voice"}.get(channel, channel)
                opened.append(os.open(PRIVATE + "/" + name, os.O_RDONLY))
                command = [*command, "--%s-fd" % channel.replace("_", "-"), str(opened[-1])]
            source = open("%s/%s" % (PRIVATE, stdin) if stdin else os.devnull, "rb")
            with source:
                more = {"user": user, "group": user, "extra_groups": []} if user else {}
                process = subprocess.Popen(
                    command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, cwd="/", pass_fds=opened,
                    **more)
                self.last_number = process.pid
                with process:
                    try:
                        out, err = process.communicate(timeout=patience)
                    except subprocess.TimeoutExpired:
                        process.kill()
                        raise
        finally:
            for descriptor in opened:
                os.close(descriptor)
        return Done(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))

    def must(self, *words, **more):
        done = self.ctl(*words, **more)
        if done.exit != 0:
            raise Broken("%s: '%s' ended with %d: %s" % (self.name, " ".join(words), done.exit, done.err.strip()))
        return done

    def act(self, deed):
        """What the person does when a hostile program waits for it. None of it tells the program a secret."""
        deeds = {
            "unlock": lambda: self.ctl("unlock", passcode=True),
            "lock": lambda: self.ctl("lock"),
            "note": lambda: self.ctl("add", "note", stdin="note"),
            "use": lambda: self.ctl("get", "guarded", passcode=True),
            "list": lambda: self.ctl("ls"),
            "open": self.open_socket,
            "free-number": self.free_number,
            "grant": self.grant,
            "use-the-grant": lambda: self.in_shell("vaultctl get near --no-input $V >/dev/null 2>&1"),
            "end-the-shell": self.end_shell,
            "use-the-grant-again-and-again": lambda: self.begin_in_shell(
                "L=%s/loot-%s; while vaultctl get near --no-input $V >/dev/null 2>&1; do echo used; done >$L/uses; echo over >$L/over"
                % (HOME, self.name)),
            "see-the-end-in-the-shell": self.end_in_shell,
            "revoke": lambda: self.ctl("agent", "revoke", "--all"),
            "count-grants": self.count_grants,
        }
        if deed.startswith("start-in-the-shell "):
            return self.start_in_shell(int(deed.split()[1]))
        return deeds[deed]()

    # The shell of the person, on a terminal of its own.

    def grant(self):
        """The person lets their shell read the item 'near' for an hour."""
        self.end_shell()
        self.terminal, screen = os.openpty()
        os.fchown(screen, PERSON, PERSON)

        def lead():
            fcntl.ioctl(screen, termios.TIOCSCTTY, 0)

        environment = {
            **self.environment, "PATH": PROGRAMS + ":/usr/bin:/bin", "V": " ".join(self.vault), "PS1": "ready> ", "HISTFILE": "/dev/null"}
        self.shell = subprocess.Popen(
            ["/bin/sh"], stdin=screen, stdout=screen, stderr=screen, env=environment, cwd="/", start_new_session=True, preexec_fn=lead,
            user=PERSON, group=PERSON, extra_groups=[])
        os.close(screen)
        self.shown = ""
        self.see("ready> ")
        self.type("vaultctl get near $V >/dev/null; echo ends=$?")
        self.see("ends=$?")
        # The person gives what is asked for.
        while True:
            seen = self.see("phrase of", "passcode: ", "allow it?", "ends=")
            if seen == "phrase of":
                self.see(": ")
                self.type(open(PRIVATE + "/voice").read())
            elif seen == "passcode: ":
                self.type(open(PRIVATE + "/passcode").read())
            elif seen == "allow it?":
                self.see("n: no: ")
                self.type("1h")
            else:
                return Done(self.code(), "", "")

    def count_grants(self):
        """How many there are, as the exit code."""
        return Done(len(json.loads(self.must("agent", "grants", "--json").out)["grants"]), "", "")

    def in_shell(self, line):
        self.begin_in_shell(line)
        return self.end_in_shell()

    def begin_in_shell(self, line):
        self.type(line + "; echo ends=$?")
        self.see("ends=$?")
        return Done(0, "", "")

    def end_in_shell(self):
        self.see("ends=")
        return Done(self.code(), "", "")

    def start_in_shell(self, number):
        """The shell starts a process that lives on. The kernel gives it this number, if it is free."""
        self.type("true")
        self.see("ready> ")
        with open("/proc/sys/kernel/ns_last_pid", "w") as file:
            file.write(str(number - 1))
        self.type("sleep 600 & echo ends=$!")
        self.see("ends=$!")
        self.see("ends=")
        return Done(self.code(), "", "")

    def end_shell(self):
        """The shell ends, and the next process of this namespace gets its number."""
        if self.shell is None:
            return Done(0, "", "")
        number = self.shell.pid
        self.shell.kill()
        self.shell.wait()
        os.close(self.terminal)
        self.shell = None
        self.last_number = number
        return Done(number if self.free_number().exit == 0 else 0, "", "")

    def type(self, line):
        os.write(self.terminal, line.encode() + b"\n")

    def see(self, *texts):
        """Waits until the terminal shows one of the texts, and returns it."""
        end = time.monotonic() + PATIENCE
        while True:
            found = [text for text in texts if text in self.shown]
            if found:
                first = min(found, key=self.shown.index)
                self.shown = self.shown[self.shown.index(first) + len(first):]
                return first
            if not select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
                raise Broken("the shell of the person does not show %r, but %r" % (texts, self.shown))
            self.shown += os.read(self.terminal, 4096).decode(errors="replace")

    def code(self):
        """The number that the terminal shows next."""
        while "\n" not in self.shown:
            self.shown += os.read(self.terminal, 4096).decode(errors="replace")
        line, self.shown = self.shown.split("\n", 1)
        return int(line)

    def open_socket(self):
        """A program of the person helps another user: it opens all that the person may open."""
        os.system(
            "setpriv --reuid %d --regid %d --clear-groups chmod 777 %s %s %s 2>/dev/null"
            % (PERSON, PERSON, os.path.dirname(os.path.dirname(self.socket)), os.path.dirname(self.socket), self.socket))
        return Done(0, "", "")

    def free_number(self):
        """The next process of this namespace gets the number of the last command of the person."""
        try:
            with open("/proc/sys/kernel/ns_last_pid", "w") as file:
                file.write(str(self.last_number - 1))
        except OSError:
            return Done(1, "", "")
        return Done(0, "", "")

    # Making and resetting.

    def make(self):
        self.initialize()
        self.start()
        self.must("unlock", passcode=True)
        for name, options in (
            ("mail", ()), ("guarded", ("--access", "passcode")), ("near", ("--access", "presence")),
            ("expiring", ("--expires", "1s", "--expiry", "refuse")),
        ):
            self.must("add", name, *options, stdin=name)
        self.must("pin", "set", "pin", "--limit", str(PIN_LIMIT), new_pin=True)
        self.must("otp", "add", "pinned", "--pin", "pin", stdin="pinned", pin=True)
        self.must("otp", "add", "codes", stdin="codes")
        self.must("card", "put", "card", "--ttl", "1h", "--uses", "1", stdin="card")
        wait_for("an item that expires", lambda: self.ctl("get", "expiring").exit == 7)
        self.must(
            "otp", "add", "signer", "--suite", "OCRA-1:HOTP-SHA256-8:QH64", "--secret-format", "hex", "--access", "presence", stdin="signer")
        # One right PIN, so that the count begins at its limit.
        self.must("pin", "verify", "pin", pin=True)
        self.must("lock")
        self.stop()
        self.snapshot = {path: open(path, "rb").read() for path in self.files()}
        self.start()

    def files(self):
        return [os.path.join(folder, name) for folder, _, names in os.walk(self.state) for name in names]

    def reset(self):
        """Puts the files back as they were made, with their inodes: nothing takes them for a copy."""
        self.stop()
        for path in self.files():
            if path not in self.snapshot:
                os.unlink(path)
        for path, content in self.snapshot.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(path, content, owner=self.owner)
        self.tidy()
        self.start()
        self.is_changed = False

    def prepare(self, program):
        self.rig.allow_login(program.login)
        self.rig.forget_logins()
        if program.asks != self.asks:
            self.stop()
            self.asks = program.asks
        if self.is_changed:
            self.reset()
        if self.process is None or not lives(self.process):
            self.start()
        if program.is_locked:
            self.must("lock")
        elif self.ctl("unlock", "--no-input").exit != 0:
            self.must("unlock", passcode=True)

    def serves(self):
        """Whether the process that was started still lives and answers the person, within ten seconds."""
        end = time.monotonic() + 10
        while lives(self.process):
            try:
                if self.ctl("ls", patience=10).exit == 0:
                    return True
            except subprocess.TimeoutExpired:
                return False
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return False

    def stop(self):
        if self.process and lives(self.process):
            os.kill(self.process, signal.SIGTERM)
            try:
                wait_for("the end of vaultd", lambda: not lives(self.process), patience=10)
            except Broken:
                os.kill(self.process, signal.SIGKILL)
                wait_for("the end of vaultd", lambda: not lives(self.process))
        if self.process:
            try:
                # This process is the parent of all in its namespace. The wait ends when the last thread has: only then its locks are free.
                os.waitpid(self.process, 0)
            except ChildProcessError:
                pass
        self.process = None

    def tidy(self):
        """Removes what a hostile program has left behind."""
        shutil.rmtree("%s/loot-%s" % (HOME, self.name), ignore_errors=True)

    # Hostile programs.

    def attack(self, program):
        """Runs a hostile program, and returns what it got: a word, and a remark for people."""
        self.prepare(program)
        self.is_changed = self.is_changed or program.changes
        place = self.place(program)
        asks, answers = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            hostile_child(program, place, asks[1], answers[0])
        os.close(asks[1])
        os.close(answers[0])
        try:
            with os.fdopen(asks[0], "r") as lines, os.fdopen(answers[1], "w") as out:
                got, note = self.attend(program, lines, out)
            seen = program.check(self) if program.check and self.owner == KEEPER else None
            return (seen, note) if seen else (got, note)
        finally:
            # The group of the program, which this process has started.
            try:
                os.killpg(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.waitpid(child, 0)
            # Of the agent, which a program of the person may end, nothing is expected.
            if self.owner == KEEPER and not os.stat(self.socket).st_mode & 0o600:
                self.open_the_socket()
            self.served = self.owner != KEEPER or self.serves()
            self.rig.allow_login(False)
            self.tidy()

    def open_the_socket(self):
        """Does what the error tells a person to do whose socket a program has closed."""
        told = self.ctl("keeper", "status")
        advice = "chmod 600 " + self.socket
        if told.exit == 13 and advice in told.err:
            self.run(["/bin/sh", "-c", advice], None, {}, user=PERSON)

    def attend(self, program, lines, out):
        """Does what the person does meanwhile, until the program says what it got."""
        end = time.monotonic() + 2 * PATIENCE
        while True:
            left = end - time.monotonic()
            if left <= 0 or not select.select([lines], [], [], left)[0]:
                return "error", "'%s' did not end within %d s" % (program.name, 2 * PATIENCE)
            line = lines.readline()
            if not line:
                return "error", "'%s' ended without a word" % program.name
            said = json.loads(line)
            if "got" in said:
                return said["got"], said["note"]
            try:
                done = self.act(said["deed"])
            except subprocess.TimeoutExpired:
                done = Done(-1, "", "no answer in time")
            out.write(json.dumps(done.exit) + "\n")
            out.flush()


class KeeperWorld(World):
    # The terminal of --ask terminal, and one that is made already.
    screen = next_screen = None
    name = "keeper"
    vault = ("--vault", "keeper:")
    state = "/var/lib/vaultd/%d" % PERSON
    owner = KEEPER
    socket = "/run/vaultd/%d/socket" % PERSON

    def initialize(self):
        self.administer("init", "--no-recovery-code", passcode="stdin")
        folder = "/run/keeper-secrets"
        os.mkdir(folder, 0o700)
        shutil.copyfile(PRIVATE + "/voice", folder + "/voice")
        os.chmod(folder + "/voice", 0o600)
        for path in (folder, folder + "/voice"):
            os.chown(path, KEEPER, KEEPER)
        self.administer("biometry", "enroll", "voice", "--phrase-file", folder + "/voice", passcode="stdin")
        self.administer("biometry", "enroll", "--source", "login", passcode="stdin")
        shutil.rmtree(folder)

    def administer(self, *words, passcode=None):
        """What root does in the place of the keeper. The passcode comes on standard input: no other descriptor reaches the program."""
        options = ("--passcode-fd", "0") if passcode else ()
        done = self.run(
            [PROGRAMS + "/vault-keeper", "run", str(PERSON), "--", *words, *options], "passcode" if passcode else None, {}, user=None)
        if done.exit != 0:
            raise Broken("vault-keeper run … %s ended with %d: %s" % (" ".join(words), done.exit, done.err.strip()))
        return done

    def asking(self):
        """The arguments of the setting. A terminal is made anew."""
        if self.screen:
            self.screen.close()
            self.screen = None
        if self.asks == "client":
            return []
        if self.asks != "terminal":
            return ["--ask", self.asks]
        self.screen, self.next_screen = self.next_screen or Screen(), None
        return ["--ask", "terminal", "--terminal", self.screen.path]

    def start(self):
        log = open(PRIVATE + "/keeper.log", "ab")
        started = subprocess.Popen(
            [PROGRAMS + "/vault-keeper", "start", str(PERSON), *self.asking()], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/")
        self.process = started.pid

        def answers():
            if started.poll() is not None:
                raise Broken("the keeper ended with %d: %s" % (started.returncode, open(PRIVATE + "/keeper.log").read()))
            return self.ctl("keeper", "status").exit == 0 if os.path.exists(self.socket) else False

        wait_for("a keeper that answers", answers)

    def ctl(self, *words, **more):
        if words[:2] == ("keeper", "status"):
            return self.run([PROGRAMS + "/vaultctl", *words], None, {}, user=PERSON)
        return super().ctl(*words, **more)

    def place(self, program):
        return Place(self, self.socket)

    def tidy(self):
        super().tidy()
        # As vault-keeper makes it: the person owns it, and can change its mode.
        if os.path.exists(self.socket):
            os.chmod(self.socket, 0o700)


class ServiceWorld(World):
    name = "service"
    state = HOME + "/.local"
    owner = PERSON
    socket = "/run/user/%d/service/vaultctl/agent" % PERSON

    def initialize(self):
        self.must("init", "--no-recovery-code", passcode=True)
        self.must("biometry", "enroll", "voice", phrase=True, passcode=True)
        self.must("biometry", "enroll", "--source", "login", passcode=True)

    def start(self):
        shutil.rmtree(os.path.dirname(self.socket), ignore_errors=True)
        self.must("agent", "start")
        self.process = json.loads(self.must("agent", "status", "--json").out)["pid"]

    def place(self, program):
        return Place(self, self.socket)


# --- What a hostile program sees


class Place:
    """What a hostile program knows of a world: paths, the process, and how to recognize a secret when it has one."""

    def __init__(self, world, socket):
        self.world = world.name
        self.vault = list(world.vault)
        self.socket = socket
        self.process = world.process
        self.state = world.state
        self.hashes = dict(world.rig.hashes)
        self.environment = dict(world.environment)
        # Where the keeper asks; None where each command does.
        screen = getattr(world, "screen", None)
        self.terminal = screen.path if screen else None
        self.is_locked = False
        self.notes = []

    @property
    def is_keeper(self):
        return self.world == "keeper"

    def person(self, deed):
        """Waits until the person has done something, and returns the exit code of it."""
        self.asks.write(json.dumps({"deed": deed}) + "\n")
        self.asks.flush()
        return json.loads(self.answers.readline())

    def note(self, text):
        self.notes.append(text)

    def finds(self, content, also=()):
        """'secret' if a canary is in these bytes that no program should have by now, else 'nothing'."""
        if isinstance(content, str):
            content = content.encode()
        found = {hashlib.sha256(word).hexdigest() for word in re.findall(rb"canary-[a-z]+-[0-9a-f]{24}", content)}
        found |= {hashlib.sha256(word).hexdigest() for word in re.findall(rb"(?<![A-Z2-7])[A-Z2-7]{32}(?![A-Z2-7])", content)}
        kept = set(self.hashes) if self.is_locked else {"passcode", "voice", "guarded", "near", "expiring", "pinned"}
        return "secret" if any(self.hashes[name] in found for name in kept) else "nothing"


def where(error):
    """An error with its lines. The module for it reads files of Python, which are closed to the user of a hostile program."""
    lines, trace = [], error.__traceback__
    while trace:
        lines.append("%s:%d" % (trace.tb_frame.f_code.co_name, trace.tb_lineno))
        trace = trace.tb_next
    return "%s: %s (%s)" % (type(error).__name__, error, " → ".join(lines))


def hostile_child(program, place, asks, answers):
    """Becomes the user of a hostile program, runs it, and says what it got. Never returns."""
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 2 and int(name) not in (asks, answers):
                try:
                    os.close(int(name))
                except OSError:
                    pass
        os.setgroups([])
        os.setresgid(program.user, program.user, program.user)
        os.setresuid(program.user, program.user, program.user)
        os.environ.clear()
        os.environ.update(place.environment)
        os.chdir(HOME if program.user == PERSON else "/")
        place.is_locked = program.is_locked
        # For the programs that this one starts: a process that came from root is closed to its own user.
        ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
        place.asks, place.answers = os.fdopen(asks, "w"), os.fdopen(answers, "r")
        try:
            got = program.run(place) or "nothing"
        except Exception as error:
            got = "error"
            place.note(where(error))
        place.asks.write(json.dumps({"got": got, "note": "; ".join(place.notes)}) + "\n")
        place.asks.flush()
    finally:
        os._exit(0)
