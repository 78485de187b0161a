"""Lanes: processes that run tests side by side, each followed by its event stream, its processes and a clock."""
import dataclasses
import json
import os
import shlex
import signal
import subprocess
import sys
import time

import processes
from stream import FAILED, NOT_RUN, Stream, Test

# The limit of one case of a test, in seconds: two minutes after that of the framework, which a test that blocks its thread does not
# notice (`bounded` in Tests/TestSupport).
LIMIT = 12 * 60
# The limit of a command that is no test program, such as a build.
COMMAND_LIMIT = 3600
# How many lanes run at once: each mostly waits, or keeps one core busy.
AT_ONCE = 6
# How often streams are read and limits looked at, and how often processes are counted, in seconds.
TICK, SAMPLE = 0.1, 1.0
# What limits are measured by; the tests of the runner put a clock of their own here.
clock = time.monotonic
LAST_LINES = 40
KINDS = ("check", "step", "stream")


@dataclasses.dataclass
class Lane:
    """What one process runs.

    Written as `NAME [width=N] [after=NAME] [limit=SECONDS] [shown] WORDS…`, where WORDS are `--filter` and `--skip` for the test
    program, or a command: `check COMMAND…`, which is one test and passes with the code 0; `step COMMAND…`, which is no test, such
    as a build; `stream COMMAND…`, which writes an event stream to the file that EVENT_STREAM names.
    """

    name: str
    words: list
    kind: str = "tests"
    # How many tests the program runs at a time.
    width: int = 1
    # The lane that must have passed before this one starts.
    after: str = ""
    limit: int = 0
    # The output is not collected in a file.
    is_shown: bool = False

    @classmethod
    def parse(cls, text):
        name, *words = shlex.split(text)
        lane = cls(name, [])
        while words and (words[0] == "shown" or words[0].partition("=")[0] in ("width", "after", "limit")):
            key, _, value = words.pop(0).partition("=")
            if key == "shown":
                lane.is_shown = True
            else:
                setattr(lane, key, value if key == "after" else int(value))
        if words and words[0] in KINDS:
            lane.kind = words.pop(0)
        lane.words = words
        return lane


def parse(texts):
    lanes = [Lane.parse(text) for text in texts]
    names = [lane.name for lane in lanes]
    for lane in lanes:
        if names.count(lane.name) > 1:
            raise ValueError(f"two lanes have the name {lane.name}")
        if lane.after and lane.after not in names[:names.index(lane.name)]:
            raise ValueError(f"lane {lane.name}: no lane {lane.after} comes before it")
    return lanes


class Run:
    """One lane that was started: what it has done so far."""

    def __init__(self, lane, folder, program, limit):
        self.lane = lane
        self.limit = lane.limit or (limit if lane.kind in ("tests", "stream") else COMMAND_LIMIT)
        self.output, self.events, self.end = (os.path.join(folder, lane.name + suffix) for suffix in (".out", ".events", ".end"))
        self.stream = Stream(self.events, is_serial=lane.width == 1)
        self.command = self._command(program)
        # What went wrong beside the tests.
        self.faults = []
        self.warnings = []
        self.seconds = 0.0
        self.memory = self.open_files = 0
        self.is_over = self.was_started = False
        # Orphans, each with the tests that ran when it was first seen.
        self.orphans = {}

    def _command(self, program):
        if self.lane.kind != "tests":
            return self.lane.words
        few = ["--no-parallel"] if self.lane.width == 1 else ["--experimental-maximum-parallelization-width", str(self.lane.width)]
        stream = ["--event-stream-output-path", self.events, "--event-stream-version", "6.3"]
        return [program, "--testing-library", "swift-testing", *few, *stream, *self.lane.words]

    @property
    def tests(self):
        return list(self.stream.tests.values())

    @property
    def has_passed(self):
        return self.was_started and not self.faults and all(test.result not in (FAILED, NOT_RUN) for test in self.tests)

    def start(self, now):
        self.was_started = True
        self.began = self.last_news = now
        # The second name adds to the stream the comments of skipped tests and the ids of cases.
        environment = os.environ | {"EVENT_STREAM": self.events, "SWT_EXPERIMENTAL_EVENT_STREAM_FIELDS_ENABLED": "1"}
        keeper = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keeper.py")
        output = "-" if self.lane.is_shown else self.output
        sys.stdout.flush()
        self.keeper = subprocess.Popen(
            [sys.executable, "-B", keeper, str(os.getpid()), self.end, output, *self.command],
            env=environment, stdin=subprocess.DEVNULL, process_group=0)
        if self.lane.kind == "check":
            test = self.stream.tests[self.lane.name] = Test(f"{self.lane.name}: {shlex.join(self.lane.words)}")
            self.stream.begin(test, None, now)

    def follow(self, now):
        """Takes in what has happened, ends what is over its limit, and says whether the lane has ended."""
        has_ended = self.keeper.poll() is not None
        if self.stream.read(now):
            self.last_news = now
        if has_ended:
            self._finish(now)
        elif not self.is_over:
            self._look_at_limits(now)
        return has_ended

    def sample(self, children_of):
        """Counts what the lane's processes hold now; returns their memory."""
        members = processes.descendants(self.keeper.pid, children_of)
        for process in children_of.get(self.keeper.pid, []):
            self.orphans.setdefault(process, [test.name for test in self.stream.running_tests])
        self.open_files = max([self.open_files, *map(processes.open_files, members)])
        memory = sum(map(processes.memory, members))
        self.memory = max(self.memory, memory)
        return memory

    def _look_at_limits(self, now):
        if self.stream.fail_running(f"did not end within {self.limit} s", self.limit, now):
            self.is_over = True
        elif now - self.last_news > self.limit:
            self.is_over = True
            unended = [test.name for test in self.tests if test.result == NOT_RUN]
            self.faults.append("\n".join([f"nothing happened for {self.limit} s", *(["when these had not ended:"] if unended else []), *unended]))
        if self.is_over:
            self.keeper.terminate()

    def _finish(self, now):
        self.seconds = now - self.began
        try:
            with open(self.end, encoding="utf-8") as file:
                end = json.load(file)
        except FileNotFoundError:
            end = {"status": None, "left": []}
        how = how_it_ended(end["status"])
        self.stream.close()
        if self.lane.kind == "check":
            self._judge_check(end["status"], how, now)
        elif self.is_over:
            self.stream.fail_running("was ended together with its lane")
        else:
            self.stream.fail_running(f"its process {how} before its end")
            self._judge(end["status"], how)
        self.faults += self.stream.strays
        for process, line in end["left"]:
            beside = self.orphans.get(process) or ["no test that is known"]
            self.warnings.append(f"left behind, and ended now: {line}\nfirst seen beside {', '.join(beside)}")

    def _judge_check(self, status, how, now):
        (test,) = self.tests
        test.has_ended = True
        self.stream.end(test, None, now)
        if status != 0 and not test.issues:
            test.issues.append("\n".join([f"its process {how}; its last lines:", *self.last_lines()]))

    def _judge(self, status, how):
        has_failed = any(test.result == FAILED for test in self.tests)
        if status != 0 and not (status == 1 and has_failed):
            self.faults.append("\n".join([f"its process {how}; its last lines:", *self.last_lines()]))
        elif status == 0 and has_failed:
            self.faults.append("its process ended with code 0, although a test failed")
        if self.lane.kind == "step":
            return
        if not self.tests:
            self.faults.append("it found no test")
        if self.stream.most > self.lane.width:
            self.faults.append(f"{self.stream.most} tests ran at a time; the lane has a width of {self.lane.width}")

    def last_lines(self):
        try:
            with open(self.output, encoding="utf-8", errors="replace") as file:
                return [line.rstrip("\n")[:400] for line in file.readlines()[-LAST_LINES:]]
        except FileNotFoundError:
            return ["(they were shown above)"]


def how_it_ended(status):
    if status is None:
        return "was ended"
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with code {status}"


class Interrupted(BaseException):
    """A signal that ends everything."""

    def __init__(self, number):
        super().__init__()
        self.number = number


def run_all(lanes, folder, program, limit, at_once, on_end):
    """Runs the lanes, so many at once, in their order. Returns the run of each, and the peak of their memory together.

    Whatever a lane started has ended when this returns, also when a signal ends it (``Interrupted``).
    """
    processes.adopt_orphans()
    handlers = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    runs = {lane.name: Run(lane, folder, program, limit) for lane in lanes}
    try:
        return list(runs.values()), _follow(runs, at_once, on_end)
    finally:
        for number in handlers:
            signal.signal(number, signal.SIG_IGN)
        processes.end_descendants()
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _interrupt(number, frame):
    raise Interrupted(number)


def _follow(runs, at_once, on_end):
    waiting, running = list(runs.values()), []
    peak, next_sample = 0, 0.0
    while waiting or running:
        now = clock()
        for run in list(waiting):
            before = runs.get(run.lane.after)
            if before in waiting or before in running or len(running) == at_once:
                continue
            waiting.remove(run)
            if before is None or before.has_passed:
                run.start(now)
                running.append(run)
            else:
                run.faults.append(f"was not run, because {before.lane.name} failed")
        for run in list(running):
            if run.follow(now):
                running.remove(run)
                on_end(run)
        if now >= next_sample:
            children_of = processes.children()
            peak = max(peak, sum([run.sample(children_of) for run in running]))
            next_sample = now + SAMPLE
        time.sleep(TICK)
    return peak
