"""The hostile programs. Each runs as the person, or as another user, and tries to get what only the person should get.

A program is a function. It gets a `Place` of rig.py and returns what it got, as one word:

  secret    a secret that needs more than the unlocked vault, or any secret while the vault is locked
  attempt   one attempt at a PIN more than the limit allows, or a count that was put back
  older     an older state of the vault, which is used without a warning
  answer    a rule is satisfied without the person, or something left the vault that opens elsewhere
  nothing

`service` is what it gets from the agent, which runs as the person. Much of it succeeds there: within one user nothing is a boundary. From the
keeper no program gets anything.

`Forged` speaks the protocol of the socket without `vaultctl`: docs of the messages are in Sources/AgentMessages/AgentMessages.swift.
"""
import array
import ctypes
import fcntl
import json
import os
import re
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import termios
import threading
import time

from rig import (
    HOME, KEEPER, OTHER, OTHER_KEEPER, PATIENCE, PERSON, PIN_LIMIT, PROGRAMS, Broken, Done, lives, wait_for, write)

ALL = []
LIBC = ctypes.CDLL(None, use_errno=True)


class Program:
    def __init__(self, run, does, service, is_locked, changes, user, asks="client", login=False, check=None):
        self.run, self.does, self.service = run, does, service
        self.is_locked, self.changes, self.user = is_locked, changes, user
        self.asks, self.login, self.check = asks, login, check
        self.name = run.__name__.replace("_", "-")


def hostile(does, service="nothing", locked=False, changes=False, user=PERSON, asks="client", login=False, check=None):
    """Makes a program of a function.

    locked: The vault is locked when it begins. changes: It changes the vault or ends processes, so the world is reset after it.
    asks: Where the keeper asks. login: Whether PAM agrees to each login, or "password". check: What root sees afterwards in the world of
    the keeper: a word, if the program got something without knowing it.
    """

    def add(run):
        ALL.append(Program(run, does, service, locked, changes, user, asks, login, check))
        return run

    return add


# Those that scripts/test runs: they wait for no moment, and another user id alone stops them.
SHORT = {
    "copy-vault-and-key", "read-as-another-keeper", "connect-as-another-user", "start-another-keeper", "plant-directories", "run-verbs-of-root",
    "export-everything", "remove-members", "remove-the-date", "name-another-vault"}


# --- What the programs use


def ctl(place, *words, stdin=b"", environment=(), pass_fds=(), preexec=None, patience=PATIENCE, vault=True):
    """Runs `vaultctl` without any secret, as each program of the person can."""
    command = [PROGRAMS + "/vaultctl", *words, *(place.vault if vault else [])]
    done = subprocess.run(
        command, input=stdin, capture_output=True, env={**place.environment, **dict(environment)}, pass_fds=pass_fds,
        preexec_fn=preexec, timeout=patience)
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def loot(place, name=""):
    """A directory of this program, or a file in it."""
    folder = HOME + "/loot-" + place.world
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return folder + "/" + name if name else folder


def own_key(place):
    """A device key of this program itself, in another directory than the vault of it."""
    os.makedirs(loot(place, "keys"), exist_ok=True)
    return loot(place, "keys/own.key")


def content(path, limit=1 << 24):
    """The bytes of a file; nothing where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(limit)
    except OSError:
        return b""


def state_files(place):
    """The files of the state that this process can read: path and content."""
    found = {}
    for folder, _, names in os.walk(place.state):
        for name in names:
            bytes_ = content(os.path.join(folder, name))
            if bytes_:
                found[os.path.join(folder, name)] = bytes_
    standard = place.state + ("/.local" if place.is_keeper else "") + "/share/vaultctl/default.vault"
    for path in (standard, standard + "-wal", standard + "-shm", standard + "-journal"):
        if content(path):
            found[path] = content(path)
    return found


def put_back(files, keep=lambda path: True):
    """Writes old contents into the same files. Returns whether all of them could be written."""
    try:
        for path, bytes_ in files.items():
            if keep(path):
                with open(path, "r+b") as file:
                    file.write(bytes_)
                    file.truncate()
        for path in files:
            for end in ("-wal", "-shm"):
                if path.endswith(".vault") and os.path.exists(path + end):
                    os.unlink(path + end)
    except OSError:
        return False
    return bool(files)


def attempts_left(place):
    done = ctl(place, "pin", "status", "pin", "--json")
    return json.loads(done.out).get("attemptsLeft") if done.exit == 0 else None


def end_agent(place):
    """Ends the agent, if this process may do that."""
    ctl(place, "agent", "stop", vault=False)
    try:
        os.kill(place.process, signal.SIGKILL)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    wait_for("the end of the agent", lambda: not lives(place.process))
    return True


def start_agent(place, environment):
    """Starts an agent with another environment in the place of the one that was ended."""
    started = subprocess.Popen(
        [PROGRAMS + "/vaultd"], env={**place.environment, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    wait_for("another agent", lambda: ctl(place, "agent", "status", vault=False).exit == 0)
    return started


class Forged:
    """A command that is not `vaultctl`: it connects to the socket and says what it wants."""

    CALLS = {
        1: "type", 2: "confirm", 3: "show", 4: "presence", 5: "fingers", 6: "finger", 7: "allow", 20: "descriptor", 21: "secret", 22: "credential",
        23: "file", 24: "exists", 25: "own", 26: "make", 27: "finish", 28: "drop", 29: "remove", 40: "copy", 60: "check", 61: "give",
        62: "run", 63: "take", 80: "hand over"}
    STANDARD, REFUSED, CALL, CANCEL, HELD, ENDED, BEGUN = 4, 65, 66, 67, 68, 69, 70

    def __init__(self, place, patience=PATIENCE):
        self.place = place
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Before there is a time limit: with one, a connection that has to wait for its turn fails.
        self.socket.connect(place.socket)
        self.socket.settimeout(patience)
        self.out, self.err = b"", b""
        self.calls = []
        self.standard, self.opened = [], []
        # What was handed over: the secrets of 'exec'.
        self.got = b""

    # Messages: a type, the number of descriptors, then fields of tag, length and bytes.

    @staticmethod
    def fields(values):
        packed = b""
        for tag, value in values.items():
            if value is None or value is False:
                continue
            if value is True:
                value = b""
            elif isinstance(value, int):
                value = struct.pack(">q", value)
            elif isinstance(value, str):
                value = value.encode()
            elif isinstance(value, dict):
                value = Forged.fields(value)
            elif isinstance(value, (list, tuple)):
                value = b"".join(struct.pack(">I", len(text.encode())) + text.encode() for text in value)
            packed += struct.pack(">BI", tag, len(value)) + value
        return packed

    @staticmethod
    def unpacked(packed):
        values, offset = {}, 0
        while offset < len(packed):
            tag, length = struct.unpack_from(">BI", packed, offset)
            values[tag] = packed[offset + 5:offset + 5 + length]
            offset += 5 + length
        return values

    def send(self, kind, values, descriptors=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.socket.sendmsg([bytes([kind, len(descriptors)]) + self.fields(values)], rights)

    def receive(self):
        """The next message: kind, fields, descriptors. None at the end."""
        bytes_, ancillary, _, _ = self.socket.recvmsg(1 << 16, 256)
        descriptors = []
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors += array.array("i", data[:len(data) - len(data) % 4])
        if not bytes_:
            return None
        return bytes_[0], self.unpacked(bytes_[2:]), list(descriptors)

    def ask(self, words, vault=None, identity=True, variables=None, device_key=None, stdin=b"", descriptors=None, more=None):
        """Sends a request. What is not given is as an honest command would say it."""
        place = self.place
        own = place.state + ("/.local" if place.is_keeper else "") + "/share/vaultctl/default.vault"
        vault = own if vault is None else vault
        device = inode = None
        if identity and not place.is_keeper:
            try:
                about = os.stat(vault)
                device, inode = about.st_dev, about.st_ino
            except OSError:
                pass
        if variables is None:
            variables = {} if place.is_keeper else {name: place.environment[name] for name in ("HOME", "XDG_RUNTIME_DIR", "TERM")}
        opened = []
        if descriptors is None:
            source = os.pipe()
            os.write(source[1], stdin)
            os.close(source[1])
            self.outs, self.errs = os.pipe(), os.pipe()
            descriptors = [source[0], self.outs[1], self.errs[1]]
            opened = descriptors
        else:
            self.outs = self.errs = None
        flat = [text for pair in variables.items() for text in pair]
        # Standard input, output and error go when the request is taken.
        self.standard, self.opened = list(descriptors), opened
        null = os.open(os.devnull, os.O_RDWR)
        self.send(1, {
            1: 3, 2: version(place), 3: list(words), 4: flat, 5: vault, 6: device, 7: inode, 8: device_key, **(more or {})}, [null] * 3)
        os.close(null)
        return self

    def lend(self):
        """Sends standard input, output and error."""
        try:
            self.send(self.STANDARD, {}, self.standard)
        finally:
            self.keep_no_standard()

    def keep_no_standard(self):
        for descriptor in self.opened:
            os.close(descriptor)
        self.opened = []

    def reply(self, number, values, descriptors=()):
        self.send(2, {1: number, 2: values}, descriptors)

    def serve(self, answer, until=None, patience=PATIENCE):
        """Answers calls until the end, and returns the exit code; None if there is none.

        answer: Gets the kind of a call and its fields. It returns the fields of the reply and its descriptors; None hangs up.
        until: Ends this when it is true of a kind of call, which stays open.
        """
        sources = {self.socket}
        for pair in (self.outs, self.errs):
            if pair:
                sources.add(pair[0])
        end = time.monotonic() + patience
        try:
            return self.serve_until(end, sources, answer, until)
        finally:
            self.keep_no_standard()

    def serve_until(self, end, sources, answer, until):
        code = None
        while sources:
            ready = select.select(list(sources), [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                break
            for source in ready:
                if source is not self.socket:
                    bytes_ = os.read(source, 1 << 16)
                    if not bytes_:
                        sources.discard(source)
                        os.close(source)
                        if self.outs and source == self.outs[0]:
                            self.outs = None
                        else:
                            self.errs = None
                    elif self.outs and source == self.outs[0]:
                        self.out += bytes_
                    else:
                        self.err += bytes_
                    continue
                try:
                    message = self.receive()
                except (ConnectionResetError, TimeoutError):
                    message = None
                if message and message[0] == self.BEGUN:
                    try:
                        self.lend()
                    except (BrokenPipeError, ConnectionResetError):
                        sources.discard(self.socket)
                    continue
                if message is None or message[0] in (self.REFUSED, self.ENDED):
                    # Else its output would have no end.
                    self.keep_no_standard()
                    sources.discard(self.socket)
                    if message and message[0] == self.ENDED:
                        code = struct.unpack(">q", message[1][1])[0] if 1 in message[1] else None
                    elif message:
                        self.err += message[1].get(2, b"")
                    continue
                if message[0] != self.CALL:
                    continue
                number = struct.unpack(">q", message[1][1])[0]
                kind = self.CALLS.get(struct.unpack(">q", message[1][2])[0], "?")
                self.calls.append(kind)
                for descriptor in message[2]:
                    self.got += os.pread(descriptor, 1 << 16, 0)
                    os.close(descriptor)
                if until and until(kind):
                    return None
                answered = answer(kind, self.unpacked(message[1].get(3, b"")))
                if answered is None:
                    self.socket.close()
                    sources.discard(self.socket)
                    continue
                try:
                    self.reply(number, *answered)
                except (BrokenPipeError, ConnectionResetError):
                    sources.discard(self.socket)
        return code

    def close(self):
        self.keep_no_standard()
        self.socket.close()


_version = []


def version(place):
    if not _version:
        _version.append(ctl(place, "version", "--json", vault=False).out)
    return json.loads(_version[0])["version"] if _version[0].startswith("{") else _version[0].split()[-1]


def yes(typed="yes", file=b"yes"):
    """Agrees to everything: it types `typed`, says that the finger and the login password are right, and gives `file` as each file."""

    def answer(kind, fields):
        if kind == "type":
            return {1: typed}, ()
        if kind in ("confirm", "exists", "own"):
            return {4: True}, ()
        if kind == "allow":
            return {2: "100x"}, ()
        if kind == "fingers":
            return {3: ["right-index-finger"]}, ()
        if kind == "finger":
            return {2: "right-index-finger"}, ()
        if kind in ("descriptor", "secret", "credential", "file"):
            source = os.pipe()
            os.write(source[1], file)
            os.close(source[1])
            return {}, (source[0],)
        if kind == "make":
            return {5: 1}, (os.memfd_create("made"),)
        if kind == "copy":
            return {2: "clipboard", 3: []}, ()
        if kind in ("check", "give", "run", "take"):
            return None
        return {}, ()

    return answer


def forge(place, words, answer=None, **more):
    """Sends one forged request and serves it. Returns the command, with what came out."""
    command = Forged(place)
    try:
        command.ask(words, **more)
        command.exit = command.serve(answer or yes())
    finally:
        command.close()
    return command


def use_what_is_open(place):
    """No hostile program: while the vault is unlocked, each program of the person may read an item without a rule."""
    outs = [forge(place, ["get", "mail"]).out, ctl(place, "get", "mail").out.encode()]
    line = b'{"args":["get","mail"]}\n'
    outs.append(forge(place, ["vault", "batch"], stdin=line).out)
    place.is_locked = True
    return "answer" if all(place.finds(out) == "secret" for out in outs) else None


UNDERSTOOD = Program(use_what_is_open, "Reads an item without a rule.", "answer", is_locked=False, changes=False, user=PERSON)


# --- Files


@hostile("Copies the vault file, its log and the device key, and opens the copy elsewhere.", service="answer", locked=True)
def copy_vault_and_key(place):
    files = state_files(place)
    vaults = [path for path in files if path.endswith(".vault")]
    keys = [path for path in files if path.endswith(".key")]
    place.note("%d files" % len(files))
    if not vaults or not keys:
        return None
    for path, name in ((vaults[0], "stolen.vault"), (keys[0], "stolen.key")):
        write(loot(place, name), files[path], owner=PERSON)
    done = ctl(
        place, "ls", "--agent", "never", "--vault", loot(place, "stolen.vault"), "--device-key", loot(place, "stolen.key"),
        vault=False)
    return "answer" if "guarded" in done.out else None


@hostile("Reads every file that it can reach, and what other processes have open, for a vault and a key.", service="answer", locked=True)
def search_everything(place):
    kinds, secret = set(), "nothing"
    roots = [place.state, "/run", "/var/lib"] + ["/proc/%d/fd" % int(name) for name in os.listdir("/proc") if name.isdigit()]
    if not place.is_keeper:
        roots.append(HOME)
    for root in roots:
        for folder, _, names in os.walk(root):
            if "loot-" in folder or folder.startswith(PROGRAMS):
                continue
            for name in names:
                path = os.path.join(folder, name)
                try:
                    if not stat.S_ISREG(os.stat(path).st_mode) or "/proc/%d/" % os.getpid() in path:
                        continue
                except OSError:
                    continue
                bytes_ = content(path)
                if place.is_keeper and path.startswith(HOME):
                    continue
                if bytes_.startswith(b"SQLite format 3\0"):
                    kinds.add("vault")
                if path.endswith(".key") and bytes_:
                    kinds.add("key")
                if place.finds(bytes_) == "secret":
                    place.note("a secret in " + path)
                    secret = "secret"
    return secret if secret == "secret" else "answer" if kinds == {"vault", "key"} else None


@hostile("Guesses the PIN on a copy of vault and key, where no count is kept.", locked=True, changes=True)
def guess_pin_on_a_copy(place):
    if copy_vault_and_key(place) != "answer":
        return None
    judged = 0
    for guess in range(PIN_LIMIT + 2):
        done = pin_by_ctl(
            place, ("pin", "verify", "pin", "--agent", "never", "--vault", loot(place, "stolen.vault"), "--device-key",
                    loot(place, "stolen.key")), guess, vault=False)
        judged += done.exit == 3
    return "attempt" if judged > PIN_LIMIT else None


def after_a_note(place, keep=lambda path: True):
    """Lets the person store a note, and then puts the files from before that back."""
    before = state_files(place)
    if place.person("unlock") != 0 or place.person("note") != 0 or place.person("lock") != 0:
        raise Broken("the person could not store a note")
    if not put_back(before, keep):
        return None
    done = ctl(place, "ls")
    if done.exit != 0 or "note" in done.out.split():
        return None
    place.note("warned" if done.err else "no warning")
    return None if done.err else "older"


@hostile("Puts vault and witness back as they were before the person stored a note.", service="older", locked=True, changes=True)
def put_an_older_state_back(place):
    return after_a_note(place)


@hostile("Puts the vault file alone back, so that the witness knows of a later commit.", locked=True, changes=True)
def put_the_file_alone_back(place):
    return after_a_note(place, keep=lambda path: path.endswith(".vault"))


@hostile("Puts the vault file back and removes the witness.", service="older", locked=True, changes=True)
def remove_the_witness(place):
    def keep(path):
        if path.endswith(".seen"):
            os.unlink(path)
        return path.endswith(".vault")

    return after_a_note(place, keep)


@hostile("Tries PINs until the limit, then puts the files back, so that the count is that of before.", service="attempt", changes=True)
def put_the_count_back(place):
    # A locked vault is closed, so that the agent does not see what happens to its files.
    ctl(place, "lock")
    before = state_files(place)
    place.person("unlock")
    for guess in range(PIN_LIMIT):
        wrong_pin(place, ("pin", "verify", "pin"), guess)
    ctl(place, "lock")
    if not put_back(before):
        return None
    place.person("unlock")
    left = attempts_left(place)
    place.note("%s attempts left" % left)
    return "attempt" if left else None


# --- PINs


def pin_by_ctl(place, words, guess, vault=True):
    """Gives a wrong PIN to a verb of `vaultctl`."""
    source = os.pipe()
    os.write(source[1], b"%06d" % (90210 + guess * 7919))
    os.close(source[1])
    try:
        return ctl(place, *words, "--pin-fd", str(source[0]), pass_fds=(source[0],), vault=vault)
    finally:
        os.close(source[0])


def wrong_pin(place, words, guess):
    """Whether a wrong PIN was judged: the verdict says how many attempts are left, or that this was the last one."""
    done = pin_by_ctl(place, words, guess)
    return done.exit == 3 or done.exit == 4 and "attempt" in done.err and "blocked" not in done.err


@hostile("Gives wrong PINs by all verbs that take one, more often than the limit allows.", changes=True)
def more_pins_than_allowed(place):
    verbs = [("pin", "verify", "pin"), ("code", "pinned"), ("otp", "export", "pinned"), ("otp", "resync", "pinned")]
    before = attempts_left(place)
    judged = sum(wrong_pin(place, verbs[guess % len(verbs)], guess) for guess in range(PIN_LIMIT * 2 + 2))
    place.note("%s before, %d judged, %s left" % (before, judged, attempts_left(place)))
    return "attempt" if judged > PIN_LIMIT or attempts_left(place) not in (0, None) else None


@hostile("Gives many wrong PINs at the same moment, over many connections.", changes=True)
def pins_at_once(place):
    commands = []
    for guess in range(PIN_LIMIT * 3):
        command = Forged(place)
        command.ask(["pin", "verify", "pin", "--pin-fd", "9"])
        commands.append((command, guess))
    codes = []

    def finish(command, guess):
        codes.append((command.serve(yes(file=b"%06d" % (90210 + guess * 7919))), command.err))

    threads = [threading.Thread(target=finish, args=pair) for pair in commands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    judged = sum(code == 3 for code, _ in codes)
    place.note("%d judged, %s left" % (judged, attempts_left(place)))
    return "attempt" if judged > PIN_LIMIT else None


@hostile("Hangs up at each step of a wrong attempt at a PIN, and keeps the output, to see a verdict that is not counted.", changes=True)
def hang_up_in_an_attempt(place):
    """A program may end an attempt at any moment. What must not be is a verdict that it has seen and that the count does not have."""

    def attempt(step, guess):
        before = attempts_left(place)
        command = Forged(place)
        command.ask(["pin", "verify", "pin", "--pin-fd", "9"])
        number = None
        if step != "request":
            while True:
                message = command.receive()
                if message is None or message[0] == Forged.ENDED:
                    break
                if message[0] == Forged.CALL:
                    number = struct.unpack(">q", message[1][1])[0]
                    break
                if step == "begun":
                    break
                if message[0] == Forged.BEGUN:
                    command.lend()
        if step in ("reply", "output") and number is not None:
            source = os.pipe()
            os.write(source[1], b"%06d" % (90210 + guess * 7919))
            os.close(source[1])
            command.reply(number, {}, (source[0],))
            os.close(source[0])
        if step == "output":
            # The first byte of the verdict has come.
            select.select([command.errs[0]], [], [], PATIENCE)
        command.close()
        shown = b""
        while True:
            bytes_ = os.read(command.errs[0], 4096)
            if not bytes_:
                break
            shown += bytes_
        os.close(command.errs[0])
        os.close(command.outs[0])
        after = attempts_left(place)
        saw = b"wrong" in shown or b"attempt" in shown
        place.note("%s: %s→%s%s" % (step, before, after, " seen" if saw else ""))
        return saw and before and after >= before or before is not None and after > before

    steps = ["request", "begun", "call", "reply", "reply", "output", "output"]
    return "attempt" if any([attempt(step, guess) for guess, step in enumerate(steps)]) else None


@hostile("Kills vaultctl with SIGKILL at each step of a wrong attempt at a PIN.", changes=True)
def kill_the_command_in_an_attempt(place):
    """The PIN comes through a pipe of this program, so this program knows when it has been read."""
    judged, before = 0, attempts_left(place)
    for guess, moment in enumerate(("started", "reading", "read", "read", "verdict", "verdict")):
        source, out = os.pipe(), os.pipe()
        child = subprocess.Popen(
            [PROGRAMS + "/vaultctl", "pin", "verify", "pin", "--pin-fd", str(source[0]), *place.vault], env=place.environment,
            pass_fds=(source[0],), stdin=subprocess.DEVNULL, stdout=out[1], stderr=out[1])
        os.close(out[1])
        if moment != "started":
            os.write(source[1], b"%06d" % (90210 + guess * 7919))
        if moment in ("read", "verdict"):
            left = array.array("i", [1])

            def is_read():
                fcntl.ioctl(source[0], termios.FIONREAD, left)
                return left[0] == 0

            wait_for("a PIN that is read", is_read)
            os.close(source[1])
        os.close(source[0])
        if moment == "verdict":
            select.select([out[0]], [], [], PATIENCE)
        child.kill()
        child.wait()
        if moment not in ("read", "verdict"):
            os.close(source[1])
        shown = b""
        while True:
            bytes_ = os.read(out[0], 4096)
            if not bytes_:
                break
            shown += bytes_
        os.close(out[0])
        judged += b"wrong" in shown
    after = attempts_left(place)
    place.note("%s→%s, %d verdicts seen" % (before, after, judged))
    return "attempt" if after is None or before - after < judged else None


# --- Memory and processes


@hostile("Traces vaultd: ptrace, process_vm_readv, pidfd_getfd, gdb.")
def trace_vaultd(place):
    process, got = place.process, b""
    for request in (16, 0x4206):
        if LIBC.ptrace(request, process, None, None) == 0:
            place.note("ptrace %#x" % request)
            return "answer"
    buffer = ctypes.create_string_buffer(4096)

    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    here = Vector(ctypes.addressof(buffer), 4096)
    for address in (0x400000, 0x7ffff7dd0000, 0x555555554000):
        there = Vector(address, 4096)
        # EFAULT would say that the memory is open and nothing is there.
        if LIBC.process_vm_readv(process, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) >= 0 or ctypes.get_errno() == 14:
            place.note("process_vm_readv")
            return "answer"
    handle = LIBC.syscall(434, process, 0)
    for number in range(16):
        stolen = LIBC.syscall(438, handle, number, 0)
        if stolen >= 0:
            place.note("pidfd_getfd %d" % number)
            return "answer"
    try:
        done = subprocess.run(
            ["gdb", "-p", str(process), "-batch", "-ex", "generate-core-file " + loot(place, "core")], capture_output=True,
            stdin=subprocess.DEVNULL, timeout=PATIENCE, env=place.environment)
        got = content(loot(place, "core"))
    except FileNotFoundError:
        pass
    return "answer" if got else None


@hostile("Reads what /proc says of vaultd: memory, environment, descriptors, directories.")
def read_proc(place):
    base = "/proc/%d/" % place.process
    for name in ("mem", "environ", "maps", "smaps", "auxv", "pagemap", "stack", "syscall", "io", "map_files"):
        try:
            if name == "map_files":
                os.listdir(base + name)
                bytes_ = b"a list"
            else:
                with open(base + name, "rb") as file:
                    bytes_ = file.read(64) if name != "mem" else b"opened"
            if bytes_:
                place.note(name)
                return "answer"
        except OSError:
            pass
    for name in ("cwd", "root", "exe", "fd/0", "fd/3", "fd/4", "fd/5", "ns/mnt"):
        try:
            os.readlink(base + name)
            place.note(name)
            return "answer"
        except OSError:
            pass
    return None


@hostile("Has vaultd leave a core dump, by signals for which the kernel writes one.", changes=True)
def dump_core(place):
    # RLIMIT_CORE of vaultd, if this process may set it.
    unlimited = struct.pack("QQ", 2 ** 64 - 1, 2 ** 64 - 1)
    LIBC.prlimit(place.process, resource.RLIMIT_CORE, ctypes.create_string_buffer(unlimited), None)
    for number in (signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS):
        try:
            os.kill(place.process, number)
        except (PermissionError, ProcessLookupError):
            pass
    if not place.is_keeper:
        wait_for("the end of the agent", lambda: not lives(place.process))
    for folder in (HOME, "/", loot(place)):
        for name in os.listdir(folder):
            if name.startswith("core") and os.path.isfile(os.path.join(folder, name)):
                return place.finds(content(os.path.join(folder, name), 1 << 28)) if content(os.path.join(folder, name)) else None
    return None


@hostile("Sends every signal that ends, stops or continues vaultd.", changes=True)
def signal_vaultd(place):
    allowed = []
    for number in (0, signal.SIGHUP, signal.SIGUSR1, signal.SIGSTOP, signal.SIGCONT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(place.process, number)
            allowed.append(int(number))
        except PermissionError:
            pass
        except ProcessLookupError:
            break
    place.note("signals that were sent: %s" % allowed)
    if place.is_keeper and allowed:
        return "answer"
    # A killed agent must not leave the vault open.
    return place.finds(ctl(place, "get", "guarded").out)


@hostile("Changes the limits and the priority of vaultd, and gives its own low limits to a command.", changes=True)
def limit_vaultd(place):
    low = struct.pack("QQ", 0, 0)
    # The agent of the person gets the limit of files alone: with the others it only hangs.
    for which in (1, 0, 2, 7, 9) if place.is_keeper else (1,):
        if LIBC.prlimit(place.process, which, ctypes.create_string_buffer(low), None) == 0:
            place.note("prlimit %d" % which)
            if place.is_keeper:
                return "answer"
    before = attempts_left(place)

    def low_limits():
        for which, value in ((resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NOFILE, 24), (resource.RLIMIT_CPU, 5), (resource.RLIMIT_NPROC, 64)):
            resource.setrlimit(which, (value, value))

    source = os.pipe()
    os.write(source[1], b"090217")
    os.close(source[1])
    done = ctl(
        place, "pin", "verify", "pin", "--pin-fd", str(source[0]), pass_fds=(source[0],), preexec=low_limits)
    after = attempts_left(place)
    place.note("exit %d, %s→%s" % (done.exit, before, after))
    return "attempt" if done.exit == 3 and before is not None and after == before else None


@hostile("Preloads a library into the programs, which copies what they read, and waits for the person to unlock.", service="secret", changes=True)
def preload_a_library(place):
    environment = {"LD_PRELOAD": PROGRAMS + "/preloaded.so", "HOSTILE_LOOT": loot(place, "read"), "LD_LIBRARY_PATH": loot(place)}
    if place.is_keeper:
        for program in (["vaultd", "--keeper", str(PERSON)], ["vault-keeper", "start", str(PERSON)]):
            subprocess.run(
                [PROGRAMS + "/" + program[0], *program[1:]], env={**place.environment, **environment}, capture_output=True, timeout=PATIENCE)
        ctl(place, "get", "guarded", environment=environment)
    elif end_agent(place):
        start_agent(place, environment)
    else:
        return None
    place.person("lock")
    if place.person("unlock") != 0:
        raise Broken("the person could not unlock the vault")
    return place.finds(content(loot(place, "read")))


@hostile("Gives the programs a clock of the day before, and sets the recorded time of the vault back to it.", service="secret", changes=True)
def fake_the_clock(place):
    environment = {"LD_PRELOAD": PROGRAMS + "/preloaded.so", "HOSTILE_CLOCK_BACK": "86400"}
    if not place.is_keeper:
        end_agent(place)
        start_agent(place, environment)
        place.person("unlock")
    ctl(place, "vault", "clock", "--reset", environment=environment)
    got = ctl(place, "get", "expiring", environment=environment)
    place.note("exit %d" % got.exit)
    return place.finds(got.out)


# --- The place of vaultd


class FalseAgent:
    """Listens where vaultd did, and asks each command for the descriptor of the passcode."""

    def __init__(self, path):
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listening.bind(path)
        self.listening.listen(8)
        self.got = b""
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.listening.accept()
            try:
                self.serve_one(connection)
            except (OSError, TypeError):
                # The command has hung up.
                pass
            connection.close()

    def serve_one(self, connection):
        connection.settimeout(5)
        fake = Forged.__new__(Forged)
        fake.socket = connection
        kind, fields, descriptors = fake.receive()
        # Its standard input, output and error: as long as they are open here, the person waits for their end.
        for descriptor in descriptors:
            os.close(descriptor)
        words = fields[3]
        numbers = re.findall(rb"--passcode-fd\0*.?([0-9]+)", words.replace(b"\0", b""))
        fake.send(Forged.BEGUN, {})
        message = fake.receive()
        for descriptor in message[2] if message else ():
            os.close(descriptor)
        if numbers:
            fake.send(Forged.CALL, {1: 1, 2: 20, 3: {23: int(numbers[0])}})
            message = fake.receive()
            for descriptor in message[2]:
                self.got += os.read(descriptor, 4096)
                os.close(descriptor)
        fake.send(Forged.ENDED, {1: 0})


@hostile("Takes the place of the socket and waits for the person to unlock.", service="secret", changes=True)
def listen_in_its_place(place):
    agents = []
    folder = os.path.dirname(place.socket)
    tries = [
        lambda: os.unlink(place.socket), lambda: os.rename(place.socket, place.socket + ".old"),
        lambda: os.rename(folder, folder + ".old"), lambda: os.mkdir(folder, 0o700), lambda: agents.append(FalseAgent(place.socket))]
    if place.is_keeper:
        # The places where an agent of the person would be.
        runtime = place.environment["XDG_RUNTIME_DIR"] + "/vaultctl"
        tries += [lambda: os.mkdir(runtime, 0o700), lambda: agents.append(FalseAgent(runtime + "/agent")),
                  lambda: os.rename("/run/vaultd", "/run/vaultd.old"), lambda: os.symlink(runtime, "/run/vaultd")]
    for attempt in tries:
        try:
            attempt()
        except OSError:
            pass
    place.person("lock")
    place.person("unlock")
    place.person("use")
    return place.finds(b" ".join(agent.got for agent in agents))


@hostile("Opens the socket to everybody, moves it, removes it, and links it elsewhere.", changes=True)
def change_the_socket(place):
    folder = os.path.dirname(place.socket)
    mode = stat.S_IMODE(os.stat(place.socket).st_mode)
    done = []
    for name, attempt in (
        ("chmod of the directory", lambda: os.chmod(folder, 0o777)),
        ("link", lambda: os.link(place.socket, os.path.join(folder, "linked"))),
        ("chmod of the socket", lambda: os.chmod(place.socket, 0o777)),
        ("chown", lambda: os.chown(place.socket, PERSON, PERSON)),
        ("rename", lambda: os.rename(place.socket, place.socket + ".moved")),
        ("remove", lambda: os.unlink(place.socket)),
    ):
        try:
            attempt()
            done.append(name)
        except OSError:
            pass
    place.note("done: %s" % ", ".join(done))
    if place.is_keeper:
        if os.path.exists(place.socket):
            os.chmod(place.socket, mode)
        # The owner of a socket may always change its mode. That opens nothing: 'connect-as-another-user' is the program for it.
        return "answer" if set(done) - {"chmod of the socket", "chown"} else None
    return None


@hostile("Closes the socket to everybody, also to the person, and ends.", changes=True)
def close_the_socket(place):
    """It keeps the person out, and gets nothing. What the error tells the person to do ends that."""
    try:
        os.chmod(place.socket, 0)
    except OSError as error:
        place.note(str(error))
    return None


@hostile("Connects as another user, also after a program of the person has opened the socket to everybody.", user=OTHER, changes=True)
def connect_as_another_user(place):
    for _ in range(2):
        try:
            command = forge(place, ["get", "mail"])
            if command.exit == 0 or command.out:
                return "answer"
        except OSError as error:
            place.note(type(error).__name__)
        done = ctl(place, "get", "mail")
        if done.exit == 0:
            return "answer"
        if place.person("open") != 0:
            break
    return None


@hostile("Runs as the keeper of another person and reads the state of this one.", locked=True, user=OTHER_KEEPER)
def read_as_another_keeper(place):
    files = state_files(place)
    for path in (place.state, "/proc/%d/root%s" % (place.process, place.state), place.socket):
        try:
            os.listdir(path)
            return "answer"
        except OSError:
            pass
    try:
        if forge(place, ["ls"]).exit == 0:
            return "answer"
    except OSError:
        pass
    for number in (0, signal.SIGTERM):
        try:
            os.kill(place.process, number)
            return "answer"
        except PermissionError:
            pass
    return "answer" if files else None


def own_socket_serves(place, path):
    """Whether a keeper that this program has started lists the items of the person."""
    real, place.socket = place.socket, path
    try:
        return b"guarded" in forge(place, ["ls"]).out
    except OSError:
        return False
    finally:
        place.socket = real


@hostile("Starts a keeper of its own: vaultd --keeper, vault-keeper start and run, with a socket that it has made.", changes=True)
def start_another_keeper(place):
    path = loot(place, "socket")
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(path)
    listening.listen(4)
    for words in (
        ["vaultd", "--keeper", str(PERSON)], ["vaultd", "--keeper", str(KEEPER)], ["vaultd", "--keeper", "0"],
        ["vault-keeper", "start", str(PERSON)], ["vault-keeper", "run", str(PERSON), "--", "export", "jsonl", "--plain"],
    ):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                # As a service manager passes a socket.
                for target, source in ((1, write_end), (2, write_end), (3, listening.fileno())):
                    os.dup2(source, target)
                    # Where both are the same number, nothing was made.
                    os.set_inheritable(target, True)
                os.execve(PROGRAMS + "/" + words[0], words, {
                    **place.environment, "LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid()), "VAULTD_PERSON": "root"})
            finally:
                os._exit(127)
        os.close(write_end)
        goes_on = not select.select([read_end], [], [], 5)[0]
        out = b"" if goes_on else os.read(read_end, 1 << 16)
        if goes_on:
            place.note("'%s' goes on" % " ".join(words))
            if own_socket_serves(place, path):
                return "answer"
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(read_end)
        place.note("%s: %r" % (" ".join(words[:3]), out[:50]))
        # As the keeper of somebody else it may run: it finds no state, and serves nobody but that person.
        if goes_on and str(PERSON) in words or status == 0:
            return "answer"
        if place.finds(out) == "secret":
            return "secret"
    return None


@hostile("Plants directories, files and links where root makes those of a keeper.", changes=True)
def plant_directories(place):
    planted = []
    for path in (
        "/run/vaultd/%d" % OTHER, "/var/lib/vaultd/%d" % OTHER, "/var/lib/vaultd/%d.name" % OTHER, "/run/vaultd/%d/lock" % PERSON,
        "/run/vaultd/%d/socket" % PERSON, "/var/lib/vaultd/%d/x" % PERSON, "/var/lib/vaultd/x", "/run/vaultd/x",
    ):
        for make in (lambda: os.mkdir(path), lambda: os.symlink(HOME, path), lambda: write(path, "hostile")):
            try:
                make()
                planted.append(path)
            except (OSError, PermissionError):
                pass
    for path in ("/run/vaultd/%d/lock" % PERSON,):
        try:
            # A lock of this program would keep a keeper from starting.
            fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
            planted.append(path)
        except OSError:
            pass
    place.note(", ".join(planted))
    return "answer" if planted else None


@hostile("Becomes root of a user namespace, and tries all that root could do there.")
def become_root_of_a_namespace(place):
    vault = place.state + "/.local/share/vaultctl/default.vault"
    script = (
        'cat "$1" 2>/dev/null | head -c 16; cat "$2"/* 2>/dev/null | head -c 16; kill -9 "$3" 2>/dev/null && echo killed; '
        'chown 0 "$4" 2>/dev/null; mount --bind /dev/null "$4" 2>/dev/null; cat /proc/"$3"/environ 2>/dev/null; '
        '"$5" item get guarded --no-input --vault keeper: 2>/dev/null; true')
    try:
        # Of the agent of the person only the file is tried: it can be killed without a namespace.
        process = str(place.process) if place.is_keeper else "1"
        target = vault if place.is_keeper else "/var/lib/vaultd/%d/.local/share/vaultctl/default.vault" % PERSON
        done = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", target, place.state if place.is_keeper else
             "/var/lib/vaultd", process, place.socket, PROGRAMS + "/vaultctl"], capture_output=True, env=place.environment, timeout=PATIENCE)
    except FileNotFoundError:
        return None
    return "answer" if done.stdout else None


# --- Verbs that take something out


ROOTS = [
    ["init", "--no-recovery-code", "--passcode-fd", "9"], ["backup", "OUT", "--passphrase-fd", "9"],
    ["restore", "OUT", "--replace", "--passphrase-fd", "9"],
    ["passcode", "change", "--passcode-fd", "9", "--new-passcode-fd", "8"], ["passcode", "remove", "--passcode-fd", "9"],
    ["passcode", "set", "--new-passcode-fd", "9"],
    ["recovery-code", "new"], ["recovery-code", "remove"], ["recovery-code", "verify"], ["vault", "rotate", "device-key"],
    ["biometry", "enroll", "mine", "--phrase-fd", "9"], ["biometry", "enroll", "--source", "login"], ["doctor"]]


def outcome_of_root_verbs(place, run):
    """What came of the verbs of root: 'answer' if a copy, a code or a member is there, or the passcode no longer opens the vault."""
    before = ctl(place, "biometry", "list").out
    took = None
    for words in ROOTS:
        words = [loot(place, "out") if word == "OUT" else word for word in words]
        code = run(words)
        if code == 0 and words[0] != "doctor":
            place.note(" ".join(words[:2]))
            took = "answer"
        if code == 0 and place.is_keeper:
            took = "answer"
    if os.path.exists(loot(place, "out")) and content(loot(place, "out")):
        took = "answer"
    if ctl(place, "biometry", "list").out != before:
        took = "answer"
    place.person("lock")
    if place.person("unlock") != 0:
        place.note("the passcode of the person opens the vault no more")
        took = "answer"
    return took


@hostile("Runs the verbs that only root may run in the keeper: copies, passcodes, codes, keys, members.", service="answer", changes=True)
def run_verbs_of_root(place):
    def run(words):
        sources = {}
        for number in ("8", "9"):
            sources[number], end = os.pipe()
            os.write(end, b"a passphrase of the program itself")
            os.close(end)
        done = ctl(place, *[str(sources.get(word, word)) for word in words], pass_fds=list(sources.values()))
        for descriptor in sources.values():
            os.close(descriptor)
        return done.exit

    return outcome_of_root_verbs(place, run)


@hostile("Sends the verbs of root to the socket itself, with an answer to each question.", changes=True)
def forge_verbs_of_root(place):
    def run(words):
        command = forge(place, words, yes(file=b"a passphrase of the program itself"))
        return command.exit

    return outcome_of_root_verbs(place, run)


@hostile("Sends the verbs of root as lines of a batch.", changes=True)
def batch_verbs_of_root(place):
    def run(words):
        plain = [word for word in words if word not in ("8", "9") and not word.endswith("-fd")]
        line = json.dumps({"args": plain}) + "\n"
        command = forge(place, ["vault", "batch", "--keep-going", "--passphrase-fd", "9"], yes(file=b"a passphrase of its own"), stdin=line.encode())
        answers = [json.loads(text) for text in command.out.decode().splitlines() if text.startswith("{")]
        return 0 if any(answer.get("exit") == 0 for answer in answers) else 1

    return outcome_of_root_verbs(place, run)


@hostile("Exports all items while the vault is unlocked.", service="answer", changes=True)
def export_everything(place):
    for run in (
        lambda: ctl(place, "export", "jsonl", "--plain").out,
        lambda: forge(place, ["export", "jsonl", "--plain"]).out.decode(),
        lambda: content(loot(place, "items")).decode() if ctl(place, "export", "jsonl", loot(place, "items"), "--plain").exit == 0 else "",
    ):
        out = run()
        if '"name"' in out:
            return place.finds(out) if place.finds(out) == "secret" else "answer"
    return None


@hostile("Exports the key of a one-time-password credential while the vault is unlocked.", service="answer", changes=True)
def export_a_key(place):
    for out in (ctl(place, "otp", "export", "codes").out, forge(place, ["otp", "export", "codes"]).out.decode(),
                forge(place, ["otp", "export", "pinned"], yes(typed="123456")).out.decode()):
        if "secret=" in out:
            return "answer"
    return None


@hostile("Asks for an export while the vault is locked, and waits for the person to unlock it for something else.", service="answer", locked=True, changes=True)
def wait_for_the_unlock(place):
    command = Forged(place)
    command.ask(["otp", "export", "codes"])

    command.serve(yes(typed=""), until=lambda kind: kind == "type")
    place.person("unlock")
    # The question is still open. What comes now shows whether the unlock of the person is taken for the answer.
    command.socket.settimeout(5)
    try:
        message = command.receive()
        place.note("cancelled" if message and message[0] == Forged.CANCEL else "%s" % (message and message[0]))
        if message and message[0] == Forged.CANCEL:
            # Each call is answered, also one that is no longer wanted: the prompt of the terminal was cancelled.
            command.send(2, {1: struct.unpack(">q", message[1][1])[0], 3: {1: 1, 16: {1: 6}}})
    except (TimeoutError, ConnectionResetError):
        place.note("the question stays")
    command.exit = command.serve(yes(typed=""), patience=5)
    place.note("then %s, exit %s" % (",".join(command.calls), command.exit))
    command.close()
    return "answer" if b"secret=" in command.out else None


@hostile("Exports with the recovery code of a vault of its own.", changes=True)
def export_with_a_foreign_code(place):
    code = ctl(
        place, "init", "--no-passcode", "--recovery-code", "--agent", "never", "--vault", loot(place, "own.vault"), "--device-key",
        own_key(place), "--json", vault=False)
    text = json.loads(code.out).get("recoveryCode", "") if code.exit == 0 else ""
    if not text:
        raise Broken("no recovery code: %s%s" % (code.out, code.err))
    command = forge(place, ["export", "jsonl", "--plain", "--recovery-fd", "9"], yes(file=text.encode()))
    place.note("exit %s" % command.exit)
    return "answer" if b'"name"' in command.out else None


@hostile("Replaces the epoch and the parameters, and purges, while the vault is unlocked.", changes=True)
def rotate_and_purge(place):
    took = None
    for words in (["vault", "rotate", "epoch"], ["vault", "rotate", "parameters"], ["vault", "purge"]):
        line = json.dumps({"args": words}) + "\n"
        codes = [ctl(place, *words).exit, forge(place, words).exit, forge(place, ["vault", "batch"], stdin=line.encode()).exit]
        if 0 in codes:
            place.note(" ".join(words))
            took = "answer"
    return took


@hostile("Removes a member while the vault is unlocked, and one while it is locked.", service="answer", changes=True)
def remove_members(place):
    took = None
    for words in (["biometry", "remove", "voice"], ["biometry", "remove", "login"]):
        line = json.dumps({"args": words}) + "\n"
        codes = [ctl(place, *words).exit, forge(place, words).exit, forge(place, ["vault", "batch"], stdin=line.encode()).exit]
        ctl(place, "lock")
        codes.append(ctl(place, *words).exit)
        if 0 in codes:
            place.note(" ".join(words))
            took = "answer"
    return took


# --- Rules


@hostile("Says that the login password and the finger were right.", service="secret", changes=True)
def forge_verdicts(place):
    for words in (["get", "near"], ["run", "--fd", "3=near", "--", "true"], ["get", "near", "--prompt", "terminal"]):
        command = forge(place, words, yes(typed="not the passcode"))
        place.note("%s: %s" % (command.exit, ",".join(command.calls)))
        if place.finds(command.out + command.got) == "secret":
            return "secret"
    return None


DATA = b"Pay 12 EUR to Anna"
# What a program could hope to change the channel with.
CHANNELS = [(), ("--prompt", "terminal"), ("--prompt", "pinentry"), ("--prompt", "auto")]


@hostile(
    "Owns the pseudo-terminal of a command that signs, and types yes there and into the terminal of the keeper.", service="answer",
    changes=True, asks="terminal", login=True)
def type_yes_for_the_person(place):
    for channel in CHANNELS[:2]:
        master, slave = os.openpty()
        out = os.memfd_create("out")
        source = os.pipe()
        os.write(source[1], DATA)
        os.close(source[1])
        environment = {**place.environment, "VAULTD_ASK": "--ask client", "VAULTD_PERSON": "root", "VAULTD_LOGINS": "0"}
        command = subprocess.Popen(
            [PROGRAMS + "/vaultctl", "transaction", "sign", "signer", *channel, *place.vault], stdin=source[0], stdout=out, stderr=slave,
            env=environment, start_new_session=True, preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0))
        os.close(source[0])
        os.close(slave)
        shown = b""
        # The phrase of a member is asked for first: an empty line goes on to the login, before which the text is to be accepted.
        for question, answer in ((b"phrase of voice: ", b"\n"), (b"? [y/N] ", b"y\n"), (b"\n", b"y\n")):
            while question not in shown and select.select([master], [], [], 2)[0]:
                shown += os.read(master, 1 << 16)
            os.write(master, answer)
            if place.terminal:
                try:
                    with open(place.terminal, "wb", buffering=0) as terminal:
                        for byte in answer:
                            fcntl.ioctl(terminal, termios.TIOCSTI, bytes([byte]))
                    return "answer"
                except OSError as error:
                    place.note("the terminal of the keeper: %s" % error.strerror)
        try:
            command.wait(timeout=3)
        except subprocess.TimeoutExpired:
            command.kill()
            command.wait()
        os.close(master)
        code = os.pread(out, 100, 0)
        place.note("%s: %r" % (channel, shown[-200:]))
        if re.fullmatch(rb"[0-9]{8}\n", code) or b"? [y/N]" in shown:
            return "answer"
    return None


@hostile(
    "Claims to have asked: it answers questions that nobody put to it, and those that somebody did.", service="answer", changes=True,
    asks="terminal", login=True)
def claim_to_have_asked(place):
    for channel in CHANNELS:
        for early in (False, True):
            command = Forged(place)
            variables = {"TERM": "dumb", "VAULTD_ASK": "--ask client", "VAULT_PROMPT": "terminal"}
            variables = variables if place.is_keeper else None
            command.ask(["transaction", "sign", "signer", *channel], variables=variables, stdin=DATA)

            def claim(kind, fields, command=command):
                if kind == "show" and early:
                    try:
                        for number in range(1, 8):
                            command.reply(number, {4: True, 1: "y"})
                    except (BrokenPipeError, ConnectionResetError):
                        # One answer too many is the end of the connection.
                        return None
                return yes(typed="")(kind, fields)

            try:
                code = command.serve(claim, patience=2)
            finally:
                command.close()
            place.note("%s: %s %s" % (channel, code, ",".join(command.calls)))
            asked = {"type", "confirm", "presence", "fingers", "finger"} & set(command.calls)
            if code == 0 or (place.is_keeper and asked):
                return "answer"
    return None


def guess_logins(place, processes, each, guess, hangs_up):
    """Opens questions for the login password from several processes, and answers all with a guess when no further one opens.

    Returns how many were open at the same moment, and whether a guess was right.
    """
    opened, go, results = os.pipe(), os.pipe(), os.pipe()
    children = []

    def one():
        command = Forged(place)

        def answer(kind, fields):
            if kind == "type" and b"login password" in b"".join(fields.values()):
                os.write(opened[1], b"o")
                select.select([go[0]], [], [], PATIENCE)
                if hangs_up:
                    # When the answer is on its way, and before PAM has judged it.
                    threading.Timer(0.1, command.socket.shutdown, [socket.SHUT_RDWR]).start()
                return {1: guess}, ()
            return yes(typed="")(kind, fields)

        try:
            command.ask(["get", "near"])
            code = command.serve(answer)
        finally:
            command.close()
        if code == 0 or place.finds(command.out) == "secret":
            os.write(results[1], b"s")

    for _ in range(processes):
        child = os.fork()
        if child == 0:
            threads = [threading.Thread(target=one) for _ in range(each)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            os._exit(0)
        children.append(child)
    count = 0
    while select.select([opened[0]], [], [], 2)[0]:
        count += len(os.read(opened[0], 100))
    # The end of this pipe is what all wait for.
    os.write(go[1], b"g" * 100)
    for child in children:
        os.waitpid(child, 0)
    is_right = bool(select.select([results[0]], [], [], 0)[0])
    return count, is_right


def logins_at_once(world):
    """More guesses judged at the same moment than the process of root allows."""
    now = most = 0
    for line in world.rig.logins():
        now += {"begin": 1, "end": -1}.get(line.split()[0], 0)
        most = max(most, now)
    return "attempt" if most > 8 else None


@hostile(
    "Guesses the login password, by as many commands of several processes as it can.", service="secret", changes=True, login="password",
    check=logins_at_once)
def guess_logins_at_once(place):
    count, is_right = guess_logins(place, 5, 5, "canary-login-guess", hangs_up=False)
    place.note("%d questions were open at once" % count)
    return "secret" if is_right else "attempt" if count > 8 else None


def uncounted_login(world):
    """A guess that PAM did not judge to the end, where a wrong one is counted."""

    def counts():
        lines = world.rig.logins()
        return sum(line.startswith("begin") for line in lines), lines.count("counted")

    try:
        wait_for("the count of each attempt", lambda: counts()[0] == counts()[1] > 0, patience=8)
    except Broken:
        return "attempt"
    return None


@hostile(
    "Guesses the login password and hangs up before the verdict, so that it is not counted and costs no delay.", service="secret",
    changes=True, login="password", check=uncounted_login)
def hang_up_after_a_login(place):
    count, is_right = guess_logins(place, 3, 2, "canary-login-guess", hangs_up=True)
    place.note("%d guesses" % count)
    return "secret" if is_right else None


@hostile("Answers yes to every question of every verb that reads.", changes=True)
def agree_to_everything(place):
    for words in (
        ["get", "guarded"], ["get", "guarded", "--copy"], ["run", "--fd", "3=guarded", "--", "true"],
        ["run", "--env", "X=guarded", "--", "env"], ["code", "pinned"], ["get", "guarded", "--passcode-fd", "0"],
        ["pin", "verify", "pin", "--biometry"],
    ):
        command = forge(place, words, yes(typed=""))
        if words[:2] == ["code"] and command.exit == 0:
            return "answer"
        if words[:2] == ["pin", "verify"] and command.exit == 0:
            return "answer"
        if place.finds(command.out + command.err + command.got) == "secret":
            return "secret"
    return None


@hostile("Removes the date of an item that has expired, and reads the item.", service="secret", changes=True)
def remove_the_date(place):
    for words in (["edit", "expiring", "--no-expiry"], ["edit", "expiring", "--expires", "30d"]):
        done = ctl(place, *words)
        place.note("%s: exit %d" % (words[-1], done.exit))
        if place.finds(ctl(place, "get", "expiring").out) == "secret":
            return "secret"
    return None


@hostile("Replaces a guarded item by one without a rule, and hopes to keep its secret.", changes=True)
def loosen_a_rule(place):
    line = json.dumps({"kind": "password", "name": "guarded", "secret": "x", "access": ""}) + "\n"
    for words, stdin in (
        (["import", "jsonl", "--on-duplicate", "replace"], line.encode()), (["edit", "guarded", "--label", "x"], b""),
        (["mv", "guarded", "open"], b""), (["add", "guarded2", "--access", "passcode"], b"x"),
        (["pin", "change", "pin", "--pin-fd", "9", "--new-pin-fd", "9"], b""), (["pin", "unlock", "pin", "--unlock-key-fd", "9", "--new-pin-fd", "9"], b""),
        (["otp", "counter", "pinned", "--set", "0"], b""),
    ):
        command = forge(place, words, yes(typed="", file=b"731946"), stdin=stdin)
        if words[0] == "pin" and command.exit == 0:
            return "answer"
    for name in ("guarded", "open"):
        if place.finds(ctl(place, "get", name).out) == "secret":
            return "secret"
    return None


@hostile("Takes a token that can be taken once, by eight commands at the same moment.", changes=True)
def take_a_token_twice(place):
    commands = [Forged(place).ask(["card", "get", "card"]) for _ in range(8)]
    got = []

    def finish(command):
        command.serve(yes())
        got.append(bool(command.out))

    threads = [threading.Thread(target=finish, args=(command,)) for command in commands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    place.note("%d of 8 got it" % sum(got))
    return "answer" if sum(got) > 1 else None


# --- Forged requests


@hostile("Names another vault, a path with .. in it, another device key, and another identity of the file.", changes=True)
def name_another_vault(place):
    own = HOME + "/.local/share/vaultctl/default.vault"
    theirs = "/var/lib/vaultd/%d/.local/share/vaultctl/default.vault" % PERSON
    made = ctl(place, "init", "--no-passcode", "--agent", "never", "--vault", loot(place, "own.vault"), "--device-key", own_key(place), vault=False)
    place.note("own vault: exit %d" % made.exit)
    outs = b""
    for more in (
        dict(vault=loot(place, "own.vault")), dict(vault=own), dict(vault=theirs + "/../../../../" + str(OTHER)),
        dict(vault="/var/lib/vaultd/%d/../%d/.local/share/vaultctl/default.vault" % (OTHER, PERSON)), dict(vault="/proc/self/cwd" + theirs),
        dict(device_key=own_key(place)), dict(device_key="/dev/null"), dict(device_key="/proc/self/fd/0"),
        dict(more={6: 1, 7: 1}), dict(vault="keeper:"), dict(vault=""), dict(more={9: True, 5: None}),
    ):
        for words in (["get", "guarded"], ["status"]):
            try:
                command = forge(place, words, **more)
            except OSError:
                continue
            if place.is_keeper and words == ["status"] and command.exit == 0 and more.get("vault", theirs) != theirs:
                place.note("served: %s" % more)
                return "answer"
            outs += command.out + command.err
    return place.finds(outs)


@hostile("Sets variables that name files, users and credentials, in vaultctl and in a forged request.", changes=True)
def set_variables(place):
    folder = loot(place, "credentials")
    os.makedirs(folder, exist_ok=True)
    write(folder + "/vaultctl.passcode", "not the passcode", owner=PERSON)
    variables = {
        "HOME": folder, "XDG_DATA_HOME": folder, "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_RUNTIME_DIR": folder,
        "VAULTCTL_PATH": loot(place, "own.vault"), "VAULTCTL_DEVICE_KEY": own_key(place), "VAULTD_PERSON": "root",
        "CREDENTIALS_DIRECTORY": folder, "LISTEN_FDS": "1", "LD_PRELOAD": PROGRAMS + "/preloaded.so", "PATH": folder, "TERM": "../../x",
        "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=" + folder + "/bus", "VAULTCTL_PINENTRY": folder + "/pinentry"}
    outs = b""
    for words in (["get", "guarded"], ["export", "jsonl", "--plain"], ["code", "pinned"]):
        command = forge(place, words, variables=variables)
        outs += command.out
        if place.is_keeper and command.out:
            return "answer"
        done = ctl(place, *words, environment={**variables, "VAULTCTL_DEVICE_KEY": "", "VAULTCTL_PATH": ""})
        outs += done.out.encode()
        if place.is_keeper and done.exit == 0:
            return "answer"
    return place.finds(outs)


@hostile("Names files of the keeper in options: as passcode, input, output, transport, and through links.", changes=True)
def name_files_of_the_keeper(place):
    state = "/var/lib/vaultd/%d" % PERSON
    vault = state + "/.local/share/vaultctl/default.vault"
    link, folder = loot(place, "link"), loot(place, "linked")
    os.symlink(vault, link)
    os.symlink(state, folder)
    outs = b""
    for path in (vault, link, folder + "/x", state + "/x", "/proc/%d/root%s" % (place.process, vault), "/proc/self/fd/3", "/proc/self/mem"):
        for words in (
            ["ls", "--log", path], ["import", "jsonl", path], ["otp", "sync", "pinned", "--transport", path],
            ["get", "guarded", "--passcode-file", path], ["code", "pinned", "--pin-file", path],
            ["pin", "set", "other", "--unlock-key-out", path],
        ):
            done = ctl(place, *words, stdin=b"")
            outs += (done.out + done.err).encode()
            if place.is_keeper and done.exit == 0 and words[:2] != ["ls"]:
                place.note(" ".join(words))
                return "answer"
    return place.finds(outs)


@hostile("Answers calls for files with pipes, files of /proc, directories, closed descriptors, sockets, and none at all.", changes=True)
def give_wrong_descriptors(place):
    opened = [os.open("/proc/self/environ", os.O_RDONLY), os.open("/proc/self/mem", os.O_RDONLY), os.open("/", os.O_RDONLY | os.O_DIRECTORY),
              os.open("/dev/zero", os.O_RDONLY), os.open("/dev/null", os.O_WRONLY), os.memfd_create("empty"), os.open(HOME, os.O_PATH)]
    opened.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).detach())
    outs = b""
    for descriptors in [(number,) for number in opened] + [()]:
        command = Forged(place)
        command.ask(["get", "guarded", "--passcode-fd", "9"])
        command.exit = command.serve(lambda kind, fields: ({}, descriptors) if kind == "descriptor" else yes(typed="")(kind, fields), patience=10)
        outs += command.out
        command.close()
    # A pipe that never has an end, and one whose end is closed meanwhile.
    never = os.pipe()
    command = Forged(place)
    command.ask(["get", "guarded", "--passcode-fd", "9"])
    command.serve(lambda kind, fields: ({}, (never[0],)), until=None, patience=1)
    os.close(never[1])
    command.exit = command.serve(yes(typed=""), patience=5) if command.socket.fileno() >= 0 else None
    outs += command.out
    command.close()
    # Standard input, output and error of the same kinds, and too few or too many of them.
    for descriptors in ([opened[1]] * 3, [opened[2]] * 3, [opened[5]] * 2, [opened[5]] * 5, []):
        command = Forged(place)
        try:
            command.ask(["get", "guarded"], descriptors=descriptors)
            command.serve(yes(typed=""), patience=10)
        except OSError:
            pass
        outs += command.got
        command.close()
    return place.finds(outs + os.pread(opened[5], 1 << 16, 0))


@hostile("Sends packets that are no messages: wrong types, lengths, tags, numbers of descriptors, and replies that nothing asked for.", changes=True)
def send_nonsense(place):
    good = Forged.fields({1: 2, 2: version(place), 3: ["get", "guarded"]})
    packets = [
        b"\0", b"\1\3", b"\1\0" + good, bytes([2, 0]) + Forged.fields({1: 1, 2: {4: True}}), b"\1\0" + b"\3\xff\xff\xff\xff", b"\x42\0" + good,
        b"\1\0" + good + good, os.urandom(600), bytes([3, 0]) + Forged.fields({1: 9}), b"\1\0" + Forged.fields({1: 2 ** 62, 3: ["\0"]}), b"x" * 60000]
    outs = b""
    for packet in packets:
        command = Forged(place)
        try:
            for _ in range(2):
                command.socket.send(packet)
            command.socket.settimeout(5)
            command.outs = command.errs = None
            command.serve(yes(), patience=6)
        except OSError:
            pass
        outs += command.out + command.got
        command.close()
    # A reply in advance, with the number of the call that will come.
    command = Forged(place)
    command.ask(["get", "guarded"])
    try:
        for number in (1, 2, 3):
            command.reply(number, {1: "", 4: True})
    except OSError:
        pass
    command.serve(yes(typed=""), patience=10)
    command.close()
    return place.finds(outs + command.out)


@hostile("Answers a call with an error whose delay has no room in a number.", changes=True)
def answer_with_an_endless_delay(place):
    """One such answer ended the keeper."""
    for seconds, attoseconds in ((2 ** 63 - 1, 2 ** 63 - 1), (-2 ** 63, 0), (0, -1)):
        command = Forged(place)
        command.ask(["otp", "activate", "start", "x", "--transport", "/t", "--code-fd", "9"])
        try:
            while True:
                message = command.receive()
                if message is None or message[0] == Forged.ENDED:
                    break
                if message[0] == Forged.BEGUN:
                    command.lend()
                elif message[0] == Forged.CALL:
                    number = struct.unpack(">q", message[1][1])[0]
                    command.send(2, {1: number, 3: {1: 1, 3: "x", 4: "m", 7: seconds, 8: attoseconds}})
        except OSError:
            pass
        command.close()
    return None


@hostile("Sets the recorded time of the vault back.", changes=True)
def set_the_clock_back(place):
    for words in (["vault", "clock", "--reset"], ["vault", "clock", "--reset", "--no-input"]):
        if ctl(place, *words).exit == 0 and place.is_keeper:
            return "answer"
    return None


@hostile("Connects, sends a request, and becomes another program that has the connection.", changes=True)
def become_another_program(place):
    program = (
        "import array,socket,sys; s=socket.socket(fileno=int(sys.argv[1])); s.settimeout(10); out=int(sys.argv[2])\n"
        "while True:\n m=s.recv(65536)\n if not m or m[0] in (65,69): break\n"
        " if m[0]==70: s.sendmsg([bytes([4,3])],[(1,1,array.array('i',[out]*3))])\n"
        " if m[0]==66: s.send(bytes([2,0,1,0,0,0,8])+m[7:15]+bytes([2,0,0,0,10,1,0,0,0,0,4,0,0,0,0]))\n")
    output = loot(place, "output")
    child = os.fork()
    if child == 0:
        try:
            command = Forged(place)
            out = os.open(output, os.O_RDWR | os.O_CREAT, 0o600)
            command.ask(["get", "guarded"], descriptors=[os.open(os.devnull, os.O_RDONLY), out, out])
            os.set_inheritable(command.socket.fileno(), True)
            os.set_inheritable(out, True)
            for python in ("/usr/bin/python3", "/usr/local/bin/python3"):
                if os.path.exists(python):
                    os.execve(python, ["vaultctl", "-c", program, str(command.socket.fileno()), str(out)], place.environment)
        finally:
            os._exit(1)
    os.waitpid(child, 0)
    place.note("the output: %r" % content(output)[:60])
    return place.finds(content(output))


@hostile("Hands an open connection to a process of another program, and ends the one that has connected.", changes=True)
def hand_over_a_connection(place):
    command = Forged(place)
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    child = os.fork()
    if child == 0:
        try:
            _, ancillary, _, _ = there.recvmsg(16, 64)
            number = array.array("i", ancillary[0][2][:4])[0]
            other = Forged.__new__(Forged)
            other.place, other.socket = place, socket.socket(fileno=number)
            other.out = other.err = other.got = b""
            other.calls, other.standard, other.opened = [], [], []
            other.socket.settimeout(PATIENCE)
            other.ask(["get", "guarded"])
            other.serve(yes(typed=""), patience=10)
            here.send(b"ready")
            write(loot(place, "output"), other.out + other.err + other.got, owner=PERSON)
        finally:
            os._exit(0)
    here.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [command.socket.fileno()]))])
    command.close()
    os.waitpid(child, 0)
    place.note("the output: %r" % content(loot(place, "output"))[:60])
    return place.finds(content(loot(place, "output")))


@hostile("Gets the process number of the command that unlocked the vault, and asks as that process.", locked=True, changes=True)
def reuse_a_process_number(place):
    # The person unlocks; then the number of that command is free again, and root of this rig makes the kernel give it to the next process.
    place.person("unlock")
    if place.person("free-number") != 0:
        place.note("this kernel does not say which process number comes next")
    child = os.fork()
    if child == 0:
        try:
            command = forge(place, ["get", "guarded"], yes(typed=""))
            write(loot(place, "output"), command.out + command.err, owner=PERSON)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    place.is_locked = False
    place.note("the output: %r" % content(loot(place, "output"))[:60])
    return place.finds(content(loot(place, "output")))


@hostile("Makes an output descriptor send signals to vaultd whenever it is written.")
def signal_by_a_descriptor(place):
    """The kernel sends such a signal with the rights of the process that set it."""
    here, there = socket.socketpair()
    for end in (here, there):
        fcntl.fcntl(end, fcntl.F_SETFL, fcntl.fcntl(end, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
        try:
            fcntl.fcntl(end, 8, place.process if place.is_keeper else os.getpid())
            fcntl.fcntl(end, 10, signal.SIGKILL if place.is_keeper else 0)
        except OSError:
            pass
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    command = Forged(place)
    command.ask(["ls"], descriptors=[null, there.fileno(), there.fileno()])
    command.serve(yes(), patience=10)
    command.close()
    return None if lives(place.process) else "answer"


def unnamed_question(world):
    """A question on the terminal of the keeper that names no program."""
    shown = world.screen.read()
    return "answer" if shown.count("passcode: ") > shown.count("  asked by ") else None


def handed_on(place):
    """A connection whose process has ended, and the number of that process."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        command = Forged(place)
        socket.send_fds(theirs, [b"x"], [command.socket.fileno()])
        os._exit(0)
    handed = socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0])
    os.waitpid(child, 0)
    return handed, child


@hostile(
    "Connects by a process that ends, and asks by that connection on the terminal of the keeper, so that nobody is named there.", asks="terminal",
    check=unnamed_question)
def no_requester(place):
    for words in (["get", "guarded"], ["export", "jsonl", "--plain"]):
        handed, _ = handed_on(place)
        command = Forged(place)
        command.socket.close()
        command.socket = handed
        handed.settimeout(PATIENCE)
        command.ask(words)
        # It hangs up where it is asked itself.
        code = command.serve(lambda kind, fields: ({}, ()) if kind == "show" else None, patience=10)
        command.close()
        place.note("%s: %s %r" % (words[0], code, command.err[-100:]))
        if code == 0 or place.finds(command.out) == "secret":
            return "secret"
    return None


# --- Denial of service: no success, but the person is served afterwards


def connections(place, count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    found = []
    for _ in range(count):
        try:
            one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            one.connect(place.socket)
            found.append(one)
        except OSError:
            one.close()
    return found


@hostile("Opens 1,000 connections that say nothing.")
def flood_with_silence(place):
    found = connections(place, 1000)
    place.note("%d connections" % len(found))
    code = place.person("list")
    place.note("the person meanwhile: exit %d" % code)
    return None if code == 0 else "answer"


@hostile("Opens 300 commands with a question each and answers none.")
def flood_with_questions(place):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    null, open_ = os.open(os.devnull, os.O_RDWR), []
    for _ in range(300):
        try:
            command = Forged(place, patience=5)
            command.ask(["get", "guarded"], descriptors=[null, null, null])
            open_.append(command)
        except OSError:
            break
    place.note("%d open; the person meanwhile: exit %d" % (len(open_), place.person("list")))
    for command in open_:
        command.close()
    return None


# --- Grants: what the person has let their shell do again


def granted(place):
    """Has the person let their shell use an item. Returns how often the shell can use it: once, or the rig does not work."""
    code = place.person("grant")
    if code != 0 or place.person("use-the-grant") != 0:
        raise Broken("the shell of the person has no grant: exit %d" % code)


def tries(place):
    """Whether any command that this program starts gets the item."""
    words = ["get", "near"]
    refuse = lambda kind, fields: None
    outs = [ctl(place, *words, "--no-input").out.encode(), forge(place, words, refuse).out, ctl(place, "run", "--no-masking", "--fd", "3=near", "--no-input", "--", "cat", "/dev/fd/3").out.encode()]
    outs.append(forge(place, ["vault", "batch"], refuse, stdin=b'{"args":["get","near"]}\n').out)
    return "secret" if any(place.finds(out) == "secret" for out in outs) else None


@hostile("Uses an item that the person has let their shell use for an hour: by itself, from other sessions, as an orphan.", changes=True)
def use_the_grant_of_a_shell(place):
    granted(place)
    got = tries(place)
    for leave in (os.setsid, os.setpgrp):
        source, end = os.pipe()
        child = os.fork()
        if child == 0:
            # Its own child goes on when this one has ended, so that another process is its parent.
            if os.fork() != 0:
                os._exit(0)
            try:
                leave()
            except OSError:
                pass
            while os.getppid() == child:
                time.sleep(0.01)
            os.write(end, (tries(place) or "nothing").encode())
            os._exit(0)
        os.close(end)
        os.waitpid(child, 0)
        got = "secret" if os.read(source, 16) == b"secret" else got
        os.close(source)
    if place.person("use-the-grant") != 0:
        return "answer"
    return got


@hostile("Uses an item again and again in the shell that may, while the person ends the grant.", changes=True)
def use_a_grant_while_it_is_revoked(place):
    granted(place)
    uses, over = loot(place, "uses"), loot(place, "over")
    if place.person("use-the-grant-again-and-again") != 0:
        raise Broken("the shell of the person does not take a line")
    wait_for("uses of the grant", lambda: content(uses).count(b"used") > 1)
    if place.person("revoke") != 0 or place.person("count-grants") != 0:
        return "answer"
    try:
        # The first use that gets nothing is the last one.
        wait_for("the end of the uses", lambda: content(over), patience=10)
    except Broken:
        return "answer"
    if place.person("see-the-end-in-the-shell") != 0 or place.person("use-the-grant") == 0:
        return "answer"
    return tries(place)


@hostile("Waits for the end of a shell that may use an item, gets its number, and uses the item.", changes=True)
def take_the_number_of_a_shell(place):
    granted(place)
    number = place.person("end-the-shell")
    source, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(end, (tries(place) or "nothing").encode())
        os._exit(0)
    os.close(end)
    place.note("the number of the shell was %d, this one got %d" % (number, child))
    got = os.read(source, 16).decode()
    os.waitpid(child, 0)
    return got if child == number else "error"


@hostile("Connects by a process that ends, and has the shell of the person start one that gets its number. Then it asks by that connection.", changes=True)
def hand_a_connection_on(place):
    granted(place)
    handed, child = handed_on(place)
    number = place.person("start-in-the-shell %d" % child)
    place.note("the process that connected was %d, that of the shell is %d" % (child, number))
    command = Forged(place)
    command.socket.close()
    command.socket = handed
    handed.settimeout(PATIENCE)
    command.ask(["get", "near"])
    # It hangs up where it is asked: within one user its own word would be enough.
    command.serve(lambda kind, fields: None)
    command.close()
    if number != child:
        return "error"
    return place.finds(command.out)


@hostile("Connects, becomes another program, and asks.", changes=True)
def exec_after_connecting(place):
    granted(place)
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        command = Forged(place)
        socket.send_fds(theirs, [b"x"], [command.socket.fileno()])
        os.execv("/bin/sh", ["sh", "-c", "while :; do sleep 1; done"])
    command = Forged(place)
    command.socket.close()
    command.socket = socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0])
    command.socket.settimeout(PATIENCE)
    command.ask(["get", "near"])
    # It hangs up where it is asked: within one user its own word would be enough.
    command.serve(lambda kind, fields: None)
    command.close()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return place.finds(command.out)


@hostile("Answers every question about a grant with a hundred uses, and says that it is another program.", service="secret", changes=True)
def forge_many_grants(place):
    lie = "asked by /usr/bin/ssh-agent (process 1)"
    shown, got = set(), None

    def answer(kind, fields):
        if kind == "type":
            # What the prompt says of the program: the number of its process, and its words apart.
            request = Forged.unpacked(fields[1])
            shown.add((struct.unpack(">q", request[5])[0], request[4].decode()))
        # Wrong passcodes would make the person wait.
        return yes(typed="")(kind, fields)

    before = json.loads(ctl(place, "agent", "grants", "--json").out)["grants"]
    for _ in range(100):
        forged = forge(place, ["get", "near", "--reason", lie], answer)
        got = "secret" if place.finds(forged.out) == "secret" else got
    if shown - {(os.getppid(), lie)}:
        return "error"
    after = json.loads(ctl(place, "agent", "grants", "--json").out)["grants"]
    return got or ("answer" if after != before else None)
