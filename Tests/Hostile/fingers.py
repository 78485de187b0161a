"""The keeper that takes a finger for a yes, with the real fprintd and libfprint's virtual reader.

fprintd is on the system bus of the namespace, with a stand-in for polkit that permits everything. No hardware is needed.
"""
import contextlib
import fcntl
import os
import select
import shutil
import socket
import subprocess
import termios
import time

from rig import PATIENCE, PERSON, PRIVATE, PROGRAMS, Broken, call, wait_for, write

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><keep_umask/><listen>unix:path=/run/dbus/system_bus_socket</listen>
<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
"""

# Enrolls a finger of a user: each scan comes when fprintd has said that it waits for one.
ENROLL = r"""
import dbus, dbus.mainloop.glib, socket, sys
from gi.repository import GLib
user, finger, scanned, reader = sys.argv[1:]
dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus, loop, name = dbus.SystemBus(), GLib.MainLoop(), 'net.reactivated.Fprint'
def call(path, interface, method, *words):
    return bus.get_object(name, path).get_dbus_method(method, name + interface)(*words, timeout=30)
def scan():
    s = socket.socket(socket.AF_UNIX); s.connect(reader); s.sendall(b'SCAN ' + scanned.encode())
    s.shutdown(socket.SHUT_WR); s.recv(64); s.close()
def status(result, done):
    print(result)
    if done: loop.quit()
    else: scan()
device = call('/net/reactivated/Fprint/Manager', '.Manager', 'GetDefaultDevice')
bus.add_signal_receiver(status, 'EnrollStatus', name + '.Device', path=device)
call(device, '.Device', 'Claim', user)
call(device, '.Device', 'EnrollStart', finger)
scan()
loop.run()
call(device, '.Device', 'EnrollStop')
call(device, '.Device', 'Release')
"""


class Reader:
    """fprintd with its virtual reader."""

    def __init__(self):
        for path in ("/usr/bin/dbus-daemon", "/usr/libexec/fprintd", "/usr/lib/python3/dist-packages/dbusmock"):
            if not os.path.exists(path):
                raise Broken("%s is missing: scripts/install-deps" % path)
        self.processes = []
        self.path = PRIVATE + "/reader"
        os.makedirs("/run/dbus", exist_ok=True)
        os.makedirs(PRIVATE + "/fprint", mode=0o700, exist_ok=True)
        write(PRIVATE + "/bus.conf", BUS)
        self.log = open(PRIVATE + "/fprintd.log", "ab")
        self.start("dbus-daemon", "--config-file=" + PRIVATE + "/bus.conf", "--nofork")
        wait_for("the bus", lambda: os.path.exists("/run/dbus/system_bus_socket"))
        self.start("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "polkitd", "-l", PRIVATE + "/polkitd.log")
        self.named("org.freedesktop.PolicyKit1")
        call(
            "gdbus", "call", "--system", "-d", "org.freedesktop.PolicyKit1", "-o", "/org/freedesktop/PolicyKit1/Authority",
            "-m", "org.freedesktop.DBus.Mock.AllowUnknown", "true")
        self.start(
            "/usr/libexec/fprintd", "--no-timeout", FP_VIRTUAL_DEVICE=self.path, STATE_DIRECTORY=PRIVATE + "/fprint")
        self.named("net.reactivated.Fprint")

    def start(self, *words, **variables):
        self.processes.append(subprocess.Popen(
            words, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log))

    @staticmethod
    def named(name):
        call("gdbus", "wait", "--system", "--timeout", str(PATIENCE), name)

    def enroll(self, user, finger, scanned):
        done = subprocess.run(
            ["/usr/bin/python3", "-c", ENROLL, user, finger, scanned, self.path], capture_output=True, text=True, timeout=2 * PATIENCE)
        if not done.stdout.endswith("enroll-completed\n"):
            raise Broken("fprintd does not enroll: %s %s" % (done.stdout, done.stderr))

    def scan(self, scanned):
        """A scan is lost unless fprintd waits for a finger."""
        with socket.socket(socket.AF_UNIX) as reader:
            reader.connect(self.path)
            reader.sendall(b"SCAN " + scanned.encode())
            reader.shutdown(socket.SHUT_WR)
            reader.recv(64)

    def end(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()
        self.log.close()
        shutil.rmtree("/run/dbus", ignore_errors=True)


class AtTerminal:
    """A command of the person on a terminal of its own."""

    def __init__(self, world, *words, stdin=None, given=()):
        self.master, slave = os.openpty()
        os.fchown(slave, PERSON, PERSON)
        self.shown, self.out = "", ""
        opened = [(name, os.open(PRIVATE + "/" + name, os.O_RDONLY)) for name in given]
        words = [*words, *(word for name, number in opened for word in ("--%s-fd" % name, str(number)))]
        source = open(PRIVATE + "/" + stdin, "rb") if stdin else slave
        self.process = subprocess.Popen(
            [PROGRAMS + "/vaultctl", *words, *world.vault], stdin=source, stdout=subprocess.PIPE, stderr=slave, env=world.environment,
            cwd="/", start_new_session=True, preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0), user=PERSON, group=PERSON,
            extra_groups=[], pass_fds=[number for _, number in opened])
        for descriptor in [slave, *(number for _, number in opened)]:
            os.close(descriptor)

    def see(self, text):
        end = time.monotonic() + PATIENCE
        while text not in self.shown:
            if not select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
                raise Broken("the command does not show %r, but %r" % (text, self.shown))
            try:
                self.shown += os.read(self.master, 4096).decode(errors="replace")
            except OSError:
                raise Broken("the command has ended, and has not shown %r, but %r" % (text, self.shown))
        self.shown = self.shown.split(text, 1)[1]

    def type(self, line):
        os.write(self.master, line.encode() + b"\n")

    def end(self):
        self.out = self.process.stdout.read().decode()
        exit = self.process.wait(timeout=PATIENCE)
        os.close(self.master)
        return exit


class FingerAsks:
    """For a test case that has a `machine`, and the keepers of `KeeperAsks`."""

    @contextlib.contextmanager
    def reader(self):
        reader = Reader()
        try:
            reader.enroll("hostile-person", "right-index-finger", "A")
            yield reader
        finally:
            reader.end()

    def test_the_keeper_takes_a_finger_for_a_yes(self):
        """Also where the process of the command says yes without a question: its word is none."""
        with self.reader() as reader, self.keeper("finger") as world:
            self.assertEqual(world.ctl("keeper", "status", "--json").exit, 0)
            for scanned, exit in (("B", 3), ("A", 0)):
                signs = AtTerminal(world, "transaction", "sign", "signer", stdin="data")
                signs.see("phrase of voice: ")
                signs.type("")
                signs.see("[y/N] ")
                signs.type("y")
                signs.see("finger")
                reader.scan(scanned)
                if exit == 0:
                    signs.see("login password: ")
                    signs.type(open(PRIVATE + "/login").read())
                self.assertEqual(signs.end(), exit, signs.shown)
