#!/usr/bin/python3
"""Replays a transcript in a shell on a pseudo-terminal and prints what the screen showed, in the same form.

usage: replay.py [--agent] TRANSCRIPT FOLDER-OF-VAULTCTL

With --agent an agent runs each command, and is locked after each: a prompt comes where it comes without an agent.
A page (*.md) is a transcript too: its console blocks. It may start an agent itself.

A line of a transcript is `$ command`, `# remark`, or what the screen shows. In it a person's typing stands between
⟨ and ⟩, where ^C is Ctrl-C and ^D the end of input; what is typed without echo stands there once, and echoed text
would stand there twice. Escape is shown as ␛ and the bell as ␇.
"""
import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

READY = "<<ready>>"
TYPED = re.compile("(.*?)⟨(.*?)⟩")


def steps(path):
    found, text = [], open(path, encoding="utf-8").read()
    if path.endswith(".md"):
        text = "".join(re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S))
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and not line.startswith("#"):
            found[-1][1].append(line)
    return found


class Screen:
    def __init__(self, environment):
        self.text = ""
        # A test library may have blocked or ignored signals, and the shell would inherit that: no Ctrl-C.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP):
            signal.signal(number, signal.SIG_DFL)
        child, self.terminal = pty.fork()
        if child == 0:
            os.chdir(environment["HOME"])
            os.execve("/bin/bash", ["bash", "--noprofile", "--norc", "--noediting", "-i"], environment)
        self.wait(READY)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, text, start=0):
        """Reads until the screen shows `text` behind `start`; returns where it ends."""
        deadline = time.monotonic() + 300
        while text not in self.text[start:]:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.terminal], [], [], left)[0]:
                sys.exit("replay: '%s' did not appear; the screen shows:\n%s" % (text, self.text[-2000:]))
            try:
                data = os.read(self.terminal, 65536)
            except OSError:
                data = b""
            if not data:
                sys.exit("replay: the shell ended; the screen shows:\n" + self.text[-2000:])
            self.text += data.decode("utf-8", "replace")
        return self.text.index(text, start) + len(text)

    def run(self, command, expected):
        """Types a command, and at each place of `expected` what a person types there; returns the lines shown."""
        self.text = ""
        self.type(command + "\n")
        place = self.wait("\n")  # the terminal's echo of the command
        shown = ""
        for line in expected:
            for before, typed in TYPED.findall(line):
                end = self.wait(before.replace("␛", "\x1b").replace("␇", "\x07"), place) if before else place
                shown += self.text[place:end] + "⟨" + typed + "⟩"
                place = end
                self.type({"^C": "\x03", "^D": "\x04"}.get(typed, typed + "\n"))
        self.wait(READY, place)
        shown += self.text[place:self.text.index(READY, place)]
        shown = shown.replace("\r\n", "\n")
        shown = re.sub("[^\n]*\r\x1b\\[K", "", shown)  # a bar that was shown for a while and taken away
        shown = shown.replace("\r", "\n").replace("\x1b", "␛").replace("\x07", "␇")
        return [line for line in shown.split("\n") if line]


def main():
    has_agent = sys.argv[1] == "--agent"
    path, folder = sys.argv[1 + has_agent:]
    is_page = path.endswith(".md")
    with tempfile.TemporaryDirectory(prefix="transcript ") as home, tempfile.TemporaryDirectory() as runtime:
        environment = {
            "HOME": home, "PATH": folder + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PS1": READY, "TERM": "xterm",
            "NO_COLOR": "1"}

        def agent(*words):
            if has_agent:
                subprocess.run(
                    [folder + "/vaultctl", *words], env=environment, check=True, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL)

        if has_agent or is_page:
            environment["XDG_RUNTIME_DIR"] = runtime
        agent("agent", "start")
        try:
            if has_agent:
                environment["VAULTCTL_AGENT"] = "required"
            screen = Screen(environment)
            for command, expected in steps(path):
                print("$ " + command)
                # The agent does nothing for a command of another home.
                typed = command.replace("HOME=", "VAULTCTL_AGENT=auto HOME=") if has_agent else command
                for line in screen.run(typed, expected):
                    print(line)
                agent("lock", "--all")
        finally:
            agent("agent", "stop")
            if is_page:
                # It is running still where the replay ended early.
                subprocess.run(
                    [folder + "/vaultctl", "agent", "stop"], env=environment, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if has_agent:
                # The last entry of the log can come later: the agent has this lock until it ends.
                with open(runtime + "/vaultctl/agent.lock") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)


main()
