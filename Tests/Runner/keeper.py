"""Stands between the runner and the program of one lane, so that everything that the program starts ends with it.

    keeper.py RUNNER END OUTPUT COMMAND…

It runs the command, without a terminal and with nothing to read, and is the parent of all its orphans. When the command ends,
when the runner says so (SIGTERM), or when the runner ends in any way, whatever descends from the command is ended too. END is a
file that then says how the command ended, as Python's subprocess does, and which processes it had left behind. OUTPUT is a file,
or `-` for the output of the runner. RUNNER is its process id.
"""
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios

import processes

# How long after its end a program's helpers may take to end by themselves, before they count as left behind.
PATIENCE = 2


class Ended(Exception):
    pass


def on_signal(number, frame):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Ended


def leave_terminal():
    """A program that changes the terminal, or reads from it, would be stopped or disturb the person before it."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return
    fcntl.ioctl(terminal, termios.TIOCNOTTY)
    os.close(terminal)


def wait_for(program):
    """The end of the program; others that end meanwhile are orphans."""
    while True:
        process, status = os.wait()
        if process == program.pid:
            return os.waitstatus_to_exitcode(status)


def main():
    runner, end, output, *command = sys.argv[1:]
    signal.signal(signal.SIGTERM, on_signal)
    processes.adopt_orphans()
    status, left = None, []
    try:
        processes.end_with_parent(int(runner))
        leave_terminal()
        out = None if output == "-" else open(output, "wb")
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT if out else None)
        status = wait_for(program)
        left = processes.end_descendants(PATIENCE)
    except Ended:
        processes.end_descendants()
    except OSError as error:
        status, left = 127, []
        print(f"{command[0]} cannot be run: {error.strerror}", file=sys.stderr)
    with open(end, "w", encoding="utf-8") as file:
        json.dump({"status": status, "left": left}, file)


main()
