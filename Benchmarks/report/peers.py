"""The stores that people use, each filled in a private place: GNOME's keyring, KeePassXC, pass, keyctl, age, systemd."""
import base64
import ctypes
import ctypes.util
import os
import shutil
import subprocess
import time
import uuid
from pathlib import Path

PASSWORD = "pw"


def has(*names):
    return all(shutil.which(name) for name in names)


def quiet(words, **options):
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)


class Peer:
    """A tool with `count` secrets. `words(op)` is a command; `%r` in a name makes the name new in each round."""
    name = ""

    def __init__(self, folder, count, environment):
        self.folder, self.count, self.environment = Path(folder), count, dict(environment)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.secret = self.folder / "secret"
        self.secret.write_text("s3cret-value\n")

    def fill(self):
        """Returns a remark, or None."""

    def commands(self):
        """{"get" | "add" | "list": (words, input)}"""
        return {}

    def memory(self):
        """Memory in KiB of a process that stays; None if no process stays."""

    def close(self):
        pass


class GnomeKeyring(Peer):
    name = "secret-tool (GNOME Keyring)"
    daemon = bus = None

    @staticmethod
    def is_installed():
        return has("gnome-keyring-daemon", "secret-tool", "dbus-daemon")

    def fill(self):
        # A keyring without a password is a text file. With a password, a look-up costs the same, and an add also encrypts.
        rings = self.folder / "data" / "keyrings"
        rings.mkdir(parents=True)
        out = ["[keyring]", "display-name=Def", "ctime=0", "mtime=0", "lock-on-idle=false", "lock-after=false", ""]
        for i in range(self.count):
            out += [f"[{i + 1}]", "item-type=0", f"display-name=item-{i}", f"secret={i:032x}", "mtime=0", "ctime=0", ""]
            for k, (key, value) in enumerate((("service", f"svc-{i % 100}"), ("account", f"user-{i}"), ("app", "bench"))):
                out += [f"[{i + 1}:attribute{k}]", f"name={key}", f"value={value}", "type=string", ""]
        (rings / "Def.keyring").write_text("\n".join(out))
        (rings / "Def.keyring").chmod(0o600)
        (rings / "default").write_text("Def")
        run = self.folder / "run"
        run.mkdir(mode=0o700)
        self.environment |= {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(run), "XDG_DATA_HOME": str(self.folder / "data")}
        self.environment.pop("DISPLAY", None)
        self.start()
        found = subprocess.run(["secret-tool", "lookup", "account", f"user-{self.count // 2}"], env=self.environment,
                               capture_output=True, text=True, timeout=60)
        if found.stdout.strip() != f"{self.count // 2:032x}":
            raise RuntimeError(f"the keyring does not answer: {found.stderr.strip()}")
        return "keyring without a password, so that its own encryption costs nothing"

    def start(self):
        self.bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True, env=self.environment)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().strip()
        self.daemon = subprocess.Popen(["gnome-keyring-daemon", "--foreground", "--start", "--components=secrets"],
                                       env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)

    def commands(self):
        middle = self.count // 2
        return {
            "get": (["secret-tool", "lookup", "service", f"svc-{middle % 100}", "account", f"user-{middle}"], None),
            "add": (["secret-tool", "store", "--label=new", "service", "new", "account", "new-%r"], self.secret),
            # Its only list contains all items with their secrets; each secret is a separate call.
            "list": (["secret-tool", "search", "--all", "app", "bench"] if self.count <= 1000 else None, None),
        }

    def memory(self):
        for line in open(f"/proc/{self.daemon.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    def cold(self):
        """Bus, daemon and the first look-up, in nanoseconds."""
        self.close()
        start = time.monotonic_ns()
        self.bus = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True, env=self.environment)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().strip()
        self.daemon = subprocess.Popen(["gnome-keyring-daemon", "--foreground", "--start", "--components=secrets"],
                                       env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        words, _ = self.commands()["get"]
        for _ in range(2000):
            if quiet(words, env=self.environment).returncode == 0:
                return time.monotonic_ns() - start
            time.sleep(0.002)

    def close(self):
        for process in (self.daemon, self.bus):
            if process and process.poll() is None:
                process.terminate()
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


class KeePassXC(Peer):
    name = "keepassxc-cli"

    @staticmethod
    def is_installed():
        return has("keepassxc-cli")

    def fill(self):
        self.environment["QT_QPA_PLATFORM"] = "offscreen"
        self.file, self.pw, twice = self.folder / "b.kdbx", self.folder / "pw", self.folder / "pw2"
        self.pw.write_text(PASSWORD + "\n")
        twice.write_text(PASSWORD + "\n" + PASSWORD + "\n")
        xml = ['<?xml version="1.0" encoding="UTF-8"?><KeePassFile><Meta/><Root><Group><UUID>',
               base64.b64encode(uuid.uuid4().bytes).decode(), "</UUID><Name>Root</Name>"]
        for i in range(self.count):
            xml.append(f"<Entry><UUID>{base64.b64encode(uuid.uuid4().bytes).decode()}</UUID>")
            for key, value in (("Title", f"item-{i}"), ("UserName", f"user-{i}"), ("Password", f"{i:032x}")):
                xml.append(f"<String><Key>{key}</Key><Value>{value}</Value></String>")
            xml.append("</Entry>")
        xml.append("</Group></Root></KeePassFile>")
        source = self.folder / "b.xml"
        source.write_text("".join(xml))
        with open(twice) as given:
            done = quiet(["keepassxc-cli", "import", "-q", "-p", str(source), str(self.file)], stdin=given, env=self.environment,
                         timeout=180)
        if done.returncode:
            raise RuntimeError("keepassxc-cli import failed")
        return "every call derives a key with the tool's own default costs"

    def commands(self):
        return {
            "get": (["keepassxc-cli", "show", "-q", "-s", "-a", "Password", str(self.file), f"item-{self.count // 2}"], self.pw),
            "add": (["keepassxc-cli", "add", "-q", "-g", str(self.file), "new-%r"], self.pw),
            "list": (["keepassxc-cli", "ls", "-q", "-R", str(self.file)], self.pw),
        }


class Pass(Peer):
    name = "pass"
    has_passphrase = True

    @staticmethod
    def is_installed():
        return has("pass", "gpg")

    def fill(self):
        home = self.folder / "g"
        home.mkdir(mode=0o700)
        store = self.folder / "store"
        self.environment |= {"GNUPGHOME": str(home), "PASSWORD_STORE_DIR": str(store), "HOME": str(self.folder)}
        (home / "gpg.conf").write_text("trust-model always\nbatch\n")
        pinentry = self.folder / "pinentry"
        pinentry.write_text('#!/bin/sh\necho "OK ready"\nwhile read -r c rest; do case $c in GETPIN) echo "D pw"; echo OK;; '
                            "BYE) echo OK; exit 0;; *) echo OK;; esac; done\n")
        pinentry.chmod(0o755)
        (home / "gpg-agent.conf").write_text(f"pinentry-program {pinentry}\n")
        extra = [] if self.has_passphrase else ["--pinentry-mode", "loopback", "--passphrase", ""]
        done = quiet(["gpg", *extra, "--quick-gen-key", "bench@example.org", "default", "default", "never"], env=self.environment,
                     timeout=120)
        if done.returncode:
            raise RuntimeError("gpg made no key")
        quiet(["pass", "init", "bench@example.org"], env=self.environment, timeout=60)
        with open(self.secret) as given:
            quiet(["pass", "insert", "-m", "-f", "item-0"], stdin=given, env=self.environment, timeout=60)
        first = (store / "item-0.gpg").read_bytes()
        for i in range(1, self.count):
            (store / f"item-{i}.gpg").write_bytes(first)
        return "one file an item, all of equal content; the agent is warm"

    def commands(self):
        return {
            "get": (["pass", "show", f"item-{self.count // 2}"], None),
            "add": (["pass", "insert", "-m", "-f", "new-%r"], self.secret),
            "list": (["pass", "ls"], None) if has("tree") else (None, None),
        }

    def agent(self):
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if words[0].endswith(b"gpg-agent") and str(self.folder).encode() in b" ".join(words):
                    return entry
        return None

    def memory(self):
        agent = self.agent()
        for line in open(agent / "status") if agent else ():
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    def cold(self):
        quiet(["gpgconf", "--kill", "gpg-agent"], env=self.environment)
        start = time.monotonic_ns()
        words, _ = self.commands()["get"]
        return time.monotonic_ns() - start if quiet(words, env=self.environment).returncode == 0 else None

    def close(self):
        quiet(["gpgconf", "--kill", "gpg-agent"], env=self.environment)


class PassWithout(Pass):
    name = "pass, key without passphrase"
    has_passphrase = False


class Keyctl(Peer):
    name = "keyctl (kernel)"

    @staticmethod
    def is_installed():
        return has("keyctl") and ctypes.util.find_library("keyutils") is not None

    def fill(self):
        library = ctypes.CDLL(ctypes.util.find_library("keyutils"), use_errno=True)
        library.add_key.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int32]
        # A session of this process and its children; it ends with them.
        if library.keyctl_join_session_keyring(None) < 0:
            raise RuntimeError("no session keyring: " + os.strerror(ctypes.get_errno()))
        self.ring = library.add_key(b"keyring", b"bench", None, 0, -3)
        for i in range(self.count):
            text = f"{i:032x}".encode()
            self.middle = library.add_key(b"user", f"item-{i}".encode(), text, len(text), self.ring)
            if self.middle < 0:
                raise RuntimeError(f"the kernel takes {i} keys: " + os.strerror(ctypes.get_errno()))
        return "nothing is kept over a reboot"

    def commands(self):
        return {
            "get": (["keyctl", "pipe", f"%user:item-{self.count // 2}"], None),
            "add": (["keyctl", "padd", "user", "new-%r", str(self.ring)], self.secret),
            "list": (["keyctl", "rlist", str(self.ring)], None),
        }


class Age(Peer):
    name = "age"

    @staticmethod
    def is_installed():
        return has("age", "age-keygen")

    def fill(self):
        identity = self.folder / "id"
        quiet(["age-keygen", "-o", str(identity)])
        recipient = subprocess.run(["age-keygen", "-y", str(identity)], capture_output=True, text=True).stdout.strip()
        self.identity, self.recipient = identity, recipient
        quiet(["age", "-r", recipient, "-o", str(self.folder / "item.age"), str(self.secret)])
        return "a file an item, by its path; the identity file is not encrypted"

    def commands(self):
        return {
            "get": (["age", "-d", "-i", str(self.identity), str(self.folder / "item.age")], None),
            "add": (["age", "-r", self.recipient, "-o", str(self.folder / "new-%r.age")], self.secret),
        }


class SystemdCreds(Peer):
    name = "systemd-creds"

    @staticmethod
    def is_installed():
        return has("systemd-creds") and os.geteuid() == 0

    def fill(self):
        file = self.folder / "item.cred"
        with open(self.secret) as given:
            done = quiet(["systemd-creds", "encrypt", "--with-key=host", "--name=x", "-", str(file)], stdin=given, timeout=30)
        if done.returncode:
            raise RuntimeError("systemd-creds encrypt failed")
        return "a file an item, by its path; root only"

    def commands(self):
        return {
            "get": (["systemd-creds", "decrypt", "--name=x", str(self.folder / "item.cred"), "-"], None),
            "add": (["systemd-creds", "encrypt", "--with-key=host", "--name=x", "-", str(self.folder / "new-%r.cred")], self.secret),
        }


ALL = [GnomeKeyring, KeePassXC, Pass, PassWithout, Keyctl, Age, SystemdCreds]
