"""The processes of Linux that a runner of tests has to know: who descends from whom, what they hold, and their end."""
import ctypes
import errno
import os
import signal
import time

SET_DEATH_SIGNAL, SET_SUBREAPER = 1, 36    # of prctl(2)


def adopt_orphans():
    """From now on a descendant that loses its parent becomes a child of this process, also when it made a session of its own."""
    _prctl(SET_SUBREAPER, 1)


def end_with_parent(parent):
    """This process gets SIGTERM when its parent ends, whatever ended it."""
    _prctl(SET_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _prctl(option, value):
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def children():
    """The children of each process that has any, without those that have ended."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            # The name is in parentheses and may contain some itself.
            state, parent = (_text(entry, "stat").rpartition(")")[2].split() + ["X", "0"])[:2]
            if state not in "ZX":
                found.setdefault(int(parent), []).append(int(entry))
    return found


def descendants(ancestor, children_of):
    """Children before their own children."""
    found = []
    for child in children_of.get(ancestor, []):
        found += [child, *descendants(child, children_of)]
    return found


def end_descendants(patience=0.0):
    """Ends every descendant of this process. Returns those that did not end by themselves in time: process ids and command lines."""
    soon = time.monotonic() + patience
    while (left := descendants(os.getpid(), children())) and time.monotonic() < soon:
        time.sleep(0.02)
        _bury()
    lines = [(process, command_line(process)) for process in left]
    # A descendant may have made another one before it was killed. One that the kernel does not let go is left after a while.
    give_up = time.monotonic() + 10
    while left and time.monotonic() < give_up:
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        time.sleep(0.01)
        _bury()
        left = descendants(os.getpid(), children())
    return lines


def _bury():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def command_line(process):
    return _text(process, "cmdline").replace("\0", " ").strip()[:200] or f"({_text(process, 'comm').strip()})"


def open_files(process):
    try:
        return len(os.listdir(f"/proc/{process}/fd"))
    except OSError:
        return 0    # It has ended, or is another user's.


def memory(process):
    """The bytes that are in memory for a process; what it shares with others is divided between them."""
    for line in _text(process, "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    pages = _text(process, "statm").split()     # What it shares is counted whole.
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") if pages else 0


def _text(process, name):
    try:
        with open(f"/proc/{process}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ESRCH, errno.EACCES, errno.EPERM):
            raise
        return ""
