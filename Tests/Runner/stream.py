"""What the event stream of one lane says about its tests.

The stream is that of Swift Testing (`--event-stream-version 6.3`): a record of JSON per line, written while the tests run.
`unittest_stream.py` writes the same for tests in Python.
"""
import json
import math

PASSED, FAILED, SKIPPED, NOT_RUN = "passed", "failed", "skipped", "not run"


class Test:
    """A test function. One with arguments is one test, and each of its arguments a case of it."""

    def __init__(self, name):
        self.name = name
        self.issues, self.skips = [], []
        self.has_ended = False
        # How long the longest case took.
        self.seconds = 0.0

    @property
    def result(self):
        if self.issues:
            return FAILED
        # Also when only some of its cases were skipped: not all of it was tested.
        if self.skips:
            return SKIPPED
        return PASSED if self.has_ended else NOT_RUN


class Stream:
    """Follows a file that another process writes.

    Where several tests run at a time, the stream does not say when one without arguments begins: the framework announces such a
    test before it waits for its turn. Then only cases count as in flight.
    """

    def __init__(self, path, is_serial):
        self.path, self.is_serial, self.file, self.rest = path, is_serial, None, b""
        self.tests = {}
        # The tests and cases in flight, each with the moment in which it began.
        self.running = {}
        # The most that were in flight at one moment.
        self.most = 0
        # Issues that belong to no test function, such as those of a suite.
        self.strays = []

    @property
    def running_tests(self):
        return [test for test, _ in self.running]

    def begin(self, test, case, now):
        self.running[test, case] = now
        self.most = max(self.most, len(self.running))

    def end(self, test, case, now):
        test.seconds = max(test.seconds, now - self.running.pop((test, case), now))

    def fail_running(self, issue, longer_than=0.0, now=math.inf):
        """What runs for so long has failed; returns whether there was anything."""
        late = [key for key, began in self.running.items() if now - began > longer_than]
        for test, case in late:
            if issue not in test.issues:
                test.issues.append(issue)
            del self.running[test, case]
        return bool(late)

    def read(self, now):
        """Takes in what is new; says whether there was anything."""
        if self.file is None:
            try:
                self.file = open(self.path, "rb")
            except FileNotFoundError:
                return False
        new = self.file.read()
        *lines, self.rest = (self.rest + new).split(b"\n")
        for line in lines:
            self._take(json.loads(line), now)
        return bool(new)

    def close(self):
        if self.file is not None:
            self.file.close()

    def _take(self, record, now):
        payload = record["payload"]
        kind = payload["kind"]
        if record["kind"] == "test":
            if kind == "function":
                self.tests[payload["id"]] = Test(payload["id"].rpartition("/")[0])
            return
        test = self.tests.get(payload.get("testID"))
        if kind == "issueRecorded":
            self._take_issue(payload, test)
        elif test is not None:
            self._take_event(kind, payload, test, now)

    def _take_event(self, kind, payload, test, now):
        case = (payload.get("_testCase") or {}).get("id")
        if kind == "testStarted" and self.is_serial:
            self.begin(test, None, now)
        elif kind == "testCaseStarted":
            self.end(test, None, now)
            self.begin(test, case, now)
        elif kind == "testCaseEnded":
            self.end(test, case, now)
            if self.is_serial:
                self.begin(test, None, now)
        elif kind in ("testSkipped", "testCancelled", "testCaseCancelled"):
            reason = "; ".join(payload.get("_comments") or [])
            if reason not in test.skips:
                test.skips.append(reason)
        elif kind == "testEnded":
            self.end(test, None, now)
            test.has_ended = True
            if not test.issues and any(message["symbol"] == "fail" for message in payload["messages"]):
                test.issues.append("failed, and the stream of events does not say why")

    def _take_issue(self, payload, test):
        if not payload["issue"]["isFailure"]:
            return
        lines = [message["text"] for message in payload["messages"]]
        if case := (payload.get("_testCase") or {}).get("displayName"):
            lines.append(f"with {case}")
        place = payload["issue"].get("sourceLocation") or {}
        if "_filePath" in place:
            lines[0] = f"{place['_filePath']}:{place['line']}: {lines[0]}"
        if test is None:
            self.strays.append("\n".join([payload.get("testID", "outside of all tests"), *lines]))
        else:
            test.issues.append("\n".join(lines))
