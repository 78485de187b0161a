#!/usr/bin/env python3
"""Stands for the test program in the tests of the runner: `--filter NAME` chooses what happens. It writes the event stream that
Swift Testing writes then."""
import argparse
import atexit
import json
import os
import signal
import subprocess
import sys

import held_clock

parser = argparse.ArgumentParser()
parser.add_argument("--testing-library")
parser.add_argument("--event-stream-version")
parser.add_argument("--event-stream-output-path", default=os.devnull)
parser.add_argument("--experimental-maximum-parallelization-width", type=int)
parser.add_argument("--no-parallel", action="store_true")
parser.add_argument("--list-tests", action="store_true")
parser.add_argument("--filter", default="passing")
chosen = parser.parse_args()


class Fake:
    def __init__(self, path):
        self.file = open(path, "w")

    def write(self, record_kind, kind, **payload):
        print(json.dumps({"kind": record_kind, "payload": {"kind": kind, **payload}}), file=self.file, flush=True)

    def found(self, *names):
        for name in names:
            self.write("test", "function", id=full(name))

    def event(self, kind, name, case=None, **payload):
        more = {"_testCase": {"id": case, "displayName": case}} if case else {}
        self.write("event", kind, testID=full(name), messages=payload.pop("messages", []), **more, **payload)

    def passing(self, *names):
        for name in names:
            self.event("testStarted", name)
            self.event("testEnded", name, messages=[{"symbol": "pass", "text": ""}])

    def failing(self, name, text):
        self.event("testStarted", name)
        self.event("issueRecorded", name, messages=[{"symbol": "fail", "text": text}, {"symbol": "details", "text": "a comment"}],
                   issue={"isFailure": True, "sourceLocation": {"_filePath": "/there/FakeTests.swift", "line": 7}})
        self.event("testEnded", name, messages=[{"symbol": "fail", "text": ""}])

    def cancelled(self, name, reason, case=None):
        self.event("testStarted", name)
        if case:
            self.event("testCaseStarted", name, case)
        self.event("testCaseCancelled", name, case, _comments=[reason])
        if case:
            self.event("testCaseEnded", name, case)
        self.event("testEnded", name)


def full(name):
    return f"FakeTests.Suite/{name}()/Suite.swift:1:2"


if chosen.list_tests:
    print("FakeTests.Suite/first()\nFakeTests.Suite/second()/Suite.swift:1:2\nFakeTests.Suite/third()")
    sys.exit()

fake = Fake(chosen.event_stream_output_path)
clock = held_clock.Lane()
atexit.register(clock.end)
print("what the program prints", flush=True)
match chosen.filter:
    case "passing":
        fake.found("first", "second")
        fake.passing("first", "second")
    case "third":
        fake.found("third")
        fake.passing("third")
    case "failing":
        fake.found("first", "second")
        fake.passing("first")
        fake.failing("second", "Expectation failed: 1 == 2")
        sys.exit(1)
    case "failing-with-0":
        fake.found("first")
        fake.failing("first", "Expectation failed: 1 == 2")
    case "suite-fails":
        fake.found("first")
        fake.passing("first")
        fake.write("event", "issueRecorded", testID="FakeTests.Suite", messages=[{"symbol": "fail", "text": "no folder"}],
                   issue={"isFailure": True})
        sys.exit(1)
    case "ends-with-3":
        fake.found("first")
        fake.passing("first")
        sys.exit(3)
    case "crash":
        fake.found("first", "second", "third")
        fake.passing("first")
        fake.event("testStarted", "second")
        os.kill(os.getpid(), signal.SIGSEGV)
    case "gone":
        # Ends well, and says nothing about its last test.
        fake.found("first", "second")
        fake.passing("first")
        fake.event("testStarted", "second")
    case "hang":
        fake.found("first", "second", "third")
        fake.passing("first")
        fake.event("testStarted", "second")
        child = subprocess.Popen(["sleep", "1000.25"], start_new_session=True)
        clock.wait()
    case "hang-in-case":
        fake.found("first", "second")
        fake.passing("first")
        fake.event("testStarted", "second")
        for number in range(2):     # Each is within the limit of 10 s; with the last one they are not.
            fake.event("testCaseStarted", "second", f"case {number}")
            clock.wait(3)
            fake.event("testCaseEnded", "second", f"case {number}")
        fake.event("testCaseStarted", "second", "case 2")
        clock.wait()
    case "slow-cases":
        fake.found("first")
        fake.event("testStarted", "first")
        for number in range(5):
            fake.event("testCaseStarted", "first", f"case {number}")
            clock.wait(3)
            fake.event("testCaseEnded", "first", f"case {number}")
        fake.event("testEnded", "first")
    case "hang-before":
        clock.wait()
    case "hang-after":
        fake.found("first")
        fake.passing("first")
        clock.wait()
    case "hang-wide":
        # Several at a time: nothing says which of the tests without arguments has begun.
        fake.found("first", "second", "third")
        for name in ("first", "second", "third"):
            fake.event("testStarted", name)
        fake.event("testEnded", "first")
        clock.wait()
    case "none":
        pass
    case "too-many":
        fake.found("first", "second")
        fake.event("testStarted", "first")
        fake.event("testStarted", "second")
        fake.event("testEnded", "first")
        fake.event("testEnded", "second")
    case "too-many-cases":
        fake.found("first")
        fake.event("testStarted", "first")
        for number in range(3):
            fake.event("testCaseStarted", "first", f"case {number}")
        for number in range(3):
            fake.event("testCaseEnded", "first", f"case {number}")
        fake.event("testEnded", "first")
    case "skip-listed":
        fake.found("first", "second", "third")
        fake.passing("first")
        fake.cancelled("second", "skipped: no root: a file of another user")
        fake.event("testSkipped", "third", _comments=["skipped: no root: a device"])
    case "skip-in-a-case":
        fake.found("first")
        fake.cancelled("first", "skipped: no root: a file of another user", case="case 1")
    case "skip-unlisted":
        fake.found("first", "second")
        fake.passing("first")
        fake.cancelled("second", "skipped: no moon: a tide")
    case "skip-without-reason":
        fake.found("first")
        fake.event("testSkipped", "first")
    case "leftover":
        fake.found("first", "second")
        fake.passing("first")
        fake.event("testStarted", "second")
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                # Its parent ends at once, and it has a session of its own.
                os.execvp("sleep", ["sleep", "1000.5"])
            os._exit(0)
        os.wait()
        clock.wait(3)  # The runner counts once a second.
        fake.event("testEnded", "second")
    case "holds":
        fake.found("first")
        fake.event("testStarted", "first")
        files = [open(os.devnull) for _ in range(200)]
        held = b"x" * (50 << 20)
        clock.wait(3)  # The runner counts once a second.
        fake.event("testEnded", "first")
    case "terminal":
        fake.found("first")
        fake.event("testStarted", "first")
        try:
            os.open("/dev/tty", os.O_RDWR)
            fake.failing("first", "it has a terminal")
            sys.exit(1)
        except OSError:
            fake.event("testEnded", "first")
    case other:
        sys.exit(f"no such fake: {other}")
