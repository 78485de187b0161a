"""Python's unittest, which also writes the event stream of Swift Testing (`stream.py`) to the file that EVENT_STREAM names.

    unittest_stream.py PLACE discover -s DIRECTORY …    the arguments of `python3 -m unittest`; PLACE begins the names of tests
"""
import io
import json
import os
import sys
import traceback
import unittest

PLACE = sys.argv.pop(1)


class Writer:
    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8") if path else io.StringIO()

    def write(self, record_kind, **payload):
        print(json.dumps({"kind": record_kind, "payload": payload}), file=self.file, flush=True)

    def announce(self, suite):
        for test in suite:
            if isinstance(test, unittest.TestSuite):
                self.announce(test)
            else:
                self.write("test", kind="function", id=identifier(test))

    def issue(self, test, error, *further):
        kind, value, trace = error
        frames = [frame for frame in traceback.extract_tb(trace) if "unittest" not in frame.filename]
        place = {"_filePath": frames[-1].filename, "line": frames[-1].lineno} if frames else {}
        texts = [f"{kind.__name__}: {value}", *further]
        self.write("event", kind="issueRecorded", testID=identifier(test), messages=[{"symbol": "fail", "text": text} for text in texts],
                   issue={"isFailure": True, "sourceLocation": place})


class Result(unittest.TextTestResult):
    """Writes a record of what unittest reports."""

    def startTest(self, test):
        super().startTest(test)
        writer.write("event", kind="testStarted", testID=identifier(test))

    def stopTest(self, test):
        super().stopTest(test)
        writer.write("event", kind="testEnded", testID=identifier(test), messages=[])

    def addError(self, test, err):
        super().addError(test, err)
        writer.issue(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        writer.issue(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            writer.issue(test, err, subtest.id())

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        writer.write("event", kind="testSkipped", testID=identifier(test), messages=[], _comments=[reason])

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        writer.issue(test, (AssertionError, "passed, although it is marked as a failure", None))


class Runner(unittest.TextTestRunner):
    resultclass = Result

    def run(self, test):
        writer.announce(test)
        return super().run(test)


def identifier(test):
    """As Swift Testing names a test: its suite, itself, and where it is."""
    module, _, rest = test.id().partition(".")
    return f"{PLACE}.{module}/{rest.replace('.', '/')}/{module}.py"


writer = Writer(os.environ.get("EVENT_STREAM"))
unittest.main(module=None, testRunner=Runner)
