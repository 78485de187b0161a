"""The runner of the tests, with a program that stands for the tests (`fake_tests.py`)."""
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import held_clock
import processes

HERE = os.path.dirname(os.path.abspath(__file__))
# How long what must happen may take. Only what never happens meets it.
PATIENCE = 300
# The limit that a lane meets, in seconds of a clock that stands still while a lane works.
LIMIT = 10
ALLOWED = """
### What a machine may lack

| lack | what cannot be done | tests |
|---|---|---|
| `no root` | read as another user | `FakeTests.Suite` |
| `no bus` | talk | `OtherTests` |

### Something else

| `no moon` | tides | `FakeTests` |
"""


class RunnerTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "page.md"), "w") as page:
            page.write(ALLOWED)

    def command(self, *arguments, limit=PATIENCE):
        return [os.path.join(HERE, "run"), "--program", os.path.join(HERE, "fake_tests.py"), "--page", "page.md", "--limit", str(limit), *arguments]

    def run_lanes(self, *arguments, code, last, held=0, limit=PATIENCE):
        """Runs lanes to their end. With `held`, so many of them move the clock together, and no lane works against a real one."""
        command, environment = self.command(*arguments, limit=limit), None
        if held:
            folder = tempfile.mkdtemp(dir=self.folder)
            command = [sys.executable, "-B", os.path.join(HERE, "held_clock.py"), *command]
            environment = os.environ | held_clock.environment(folder, held)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (code, last), done.stdout + done.stderr)
        return done.stdout

    def test_passes_and_counts(self):
        text = self.run_lanes("a --filter passing", "b --filter third", code=0, last="3 passed, 0 failed, 0 skipped")
        self.assertNotIn("failed:", text)
        self.assertRegex(text, r"(?m)^a: passed after \d+ s: 2 tests; at most \d+ open files in a process, \d+ MiB in all$")

    # Verified to fail when issues are not looked at.
    def test_names_a_failing_test_with_its_issue_and_place(self):
        text = self.run_lanes("a --filter failing", "b --filter third", code=1, last="2 passed, 1 failed, 0 skipped")
        self.assertIn("FakeTests.Suite/second(): /there/FakeTests.swift:7: Expectation failed: 1 == 2\n      a comment\n", text)
        self.assertRegex(text, "(?m)^a: FAILED after .* 2 tests, 1 failed;")

    def test_a_failing_test_fails_the_run_whatever_the_process_says(self):
        text = self.run_lanes("a --filter failing-with-0", code=1, last="0 passed, 1 failed, 0 skipped")
        self.assertIn("lane a: its process ended with code 0, although a test failed", text)

    def test_an_issue_outside_of_tests_fails_the_run(self):
        text = self.run_lanes("a --filter suite-fails", code=1, last="1 passed, 0 failed, 0 skipped")
        self.assertIn("lane a: FakeTests.Suite\n      no folder\n", text)

    # Verified to fail when the code of the process is not looked at.
    def test_a_process_that_ends_with_another_code_fails_the_run(self):
        text = self.run_lanes("a --filter ends-with-3", code=1, last="1 passed, 0 failed, 0 skipped")
        self.assertIn("lane a: its process ended with code 3; its last lines:\n      what the program prints\n", text)

    def test_a_crash_names_the_test_and_those_that_were_not_run(self):
        text = self.run_lanes("a --filter crash", code=1, last="1 passed, 1 failed, 0 skipped, 1 not run")
        self.assertIn("FakeTests.Suite/second(): its process was ended by SIGSEGV before its end", text)
        self.assertIn("lane a: 1 tests were not run:\n      FakeTests.Suite/third()", text)

    def test_a_test_without_an_end_fails_the_run(self):
        text = self.run_lanes("a --filter gone", code=1, last="1 passed, 1 failed, 0 skipped")
        self.assertIn("FakeTests.Suite/second(): its process ended with code 0 before its end", text)

    # Verified to fail when limits are not looked at, and when the keeper ends only the children that it knows.
    def test_a_hang_ends_its_lane_with_all_that_it_started_and_no_other(self):
        text = self.run_lanes("a --filter hang", "b --filter slow-cases", code=1, last="2 passed, 1 failed, 0 skipped, 1 not run", held=2,
                              limit=LIMIT)
        self.assertIn(f"FakeTests.Suite/second(): did not end within {LIMIT} s\n", text)
        self.assertEqual(text.count("FakeTests.Suite/third()"), 1)
        self.assertFalse(running("sleep 1000.25"))

    def test_each_case_has_the_whole_limit(self):
        text = self.run_lanes("a --filter hang-in-case", code=1, last="1 passed, 1 failed, 0 skipped", held=1, limit=LIMIT)
        self.assertIn(f"FakeTests.Suite/second(): did not end within {LIMIT} s\n", text)
        seconds = int(re.search(r"a: FAILED after (\d+) s", text)[1])
        self.assertGreater(seconds, LIMIT + LIMIT // 2)

    def test_a_lane_that_hangs_outside_of_its_tests_is_ended(self):
        text = self.run_lanes("a --filter hang-before", "b --filter hang-after", code=1, last="1 passed, 0 failed, 0 skipped",
                              held=2, limit=LIMIT)
        self.assertIn(f"lane a: nothing happened for {LIMIT} s\n", text)
        self.assertIn(f"lane b: nothing happened for {LIMIT} s\n", text)

    def test_a_hang_among_several_names_those_that_have_not_ended(self):
        text = self.run_lanes("a width=2 --filter hang-wide", code=1, last="1 passed, 0 failed, 0 skipped, 2 not run", held=1, limit=LIMIT)
        self.assertIn(f"lane a: nothing happened for {LIMIT} s\n      when these had not ended:\n      FakeTests.Suite/second()\n      FakeTests.Suite/third()", text)

    def test_a_lane_without_a_test_fails(self):
        text = self.run_lanes("a --filter none", "b --filter third", code=1, last="1 passed, 0 failed, 0 skipped")
        self.assertIn("lane a: it found no test", text)

    # Verified to fail when the width is not compared.
    def test_more_tests_at_a_time_than_the_width_fail_the_run(self):
        text = self.run_lanes("a --filter too-many", code=1, last="2 passed, 0 failed, 0 skipped")
        self.assertIn("lane a: 2 tests ran at a time; the lane has a width of 1", text)
        self.run_lanes("a width=3 --filter too-many-cases", code=0, last="1 passed, 0 failed, 0 skipped")
        self.run_lanes("a width=2 --filter too-many-cases", code=1, last="1 passed, 0 failed, 0 skipped")

    def test_a_listed_skip_is_counted_and_named_with_its_reason(self):
        text = self.run_lanes("a --filter skip-listed", code=0, last="1 passed, 0 failed, 2 skipped")
        self.assertIn("What was skipped:\n  no root: a device\n      FakeTests.Suite/third()\n  no root: a file of another user\n"
                      "      FakeTests.Suite/second()\n", text)

    def test_a_test_of_which_a_case_is_skipped_counts_as_skipped(self):
        self.run_lanes("a --filter skip-in-a-case", code=0, last="0 passed, 0 failed, 1 skipped")

    # Verified to fail when the table is not read.
    def test_a_skip_that_the_page_does_not_list_fails_the_run(self):
        text = self.run_lanes("a --filter skip-unlisted", code=1, last="1 passed, 0 failed, 1 skipped")
        self.assertIn("FakeTests.Suite/second(): skipped for a reason that docs/testing.md does not list for it: “skipped: no moon: a tide”", text)
        self.run_lanes("a --filter skip-without-reason", code=1, last="0 passed, 0 failed, 1 skipped")

    def test_what_a_lane_leaves_behind_is_named_and_ended(self):
        text = self.run_lanes("a --filter leftover", code=0, last="2 passed, 0 failed, 0 skipped", held=1)
        self.assertIn("Warning: lane a: left behind, and ended now: sleep 1000.5\n      first seen beside FakeTests.Suite/second()\n", text)
        self.assertFalse(running("sleep 1000.5"))

    def test_counts_open_files_and_memory(self):
        text = self.run_lanes("a --filter holds", code=0, last="1 passed, 0 failed, 0 skipped", held=1)
        files, memory = map(int, re.search(r"at most (\d+) open files in a process, (\d+) MiB in all", text).groups())
        self.assertGreater(files, 200)
        self.assertGreater(memory, 50)

    def test_a_command_is_one_test(self):
        text = self.run_lanes("a check true", "b check sh -c 'echo this; exit 7'", code=1, last="1 passed, 1 failed, 0 skipped")
        self.assertIn("b: sh -c 'echo this; exit 7': its process ended with code 7; its last lines:\n      this\n", text)
        self.run_lanes("a limit=1 check sleep 1000", code=1, last="0 passed, 1 failed, 0 skipped")

    def test_lanes_wait_for_a_step_and_do_not_run_when_it_fails(self):
        self.run_lanes("first step sh -c 'sleep 0.5; : >made'", "a after=first check test -e made", code=0, last="1 passed, 0 failed, 0 skipped")
        text = self.run_lanes("first step false", "a after=first --filter passing", "b --filter third", code=1, last="1 passed, 0 failed, 0 skipped")
        self.assertIn("lane first: its process ended with code 1", text)
        self.assertIn("lane a: was not run, because first failed", text)

    def test_no_more_lanes_run_at_once_than_may(self):
        alone = "check sh -c 'mkdir held && sleep 1 && rmdir held'"
        self.run_lanes("--at-once", "1", f"a {alone}", f"b {alone}", code=0, last="2 passed, 0 failed, 0 skipped")
        # Each waits for the other one.
        os.mkfifo(os.path.join(self.folder, "both"))
        self.run_lanes("--at-once", "2", "a check sh -c ': >both'", "b check sh -c ': <both'", code=0, last="2 passed, 0 failed, 0 skipped")

    def test_every_test_must_be_in_one_lane(self):
        self.run_lanes("--complete", "a --filter passing", "b --filter third", code=0, last="3 passed, 0 failed, 0 skipped")
        text = self.run_lanes("--complete", "a --filter passing", code=1, last="2 passed, 0 failed, 0 skipped")
        self.assertIn("FakeTests.Suite/third(): is in no lane", text)
        text = self.run_lanes("--complete", "a --filter third", "b --filter third", code=1, last="2 passed, 0 failed, 0 skipped")
        self.assertIn("FakeTests.Suite/third(): is in two lanes", text)

    def test_a_command_that_looks_at_the_results_can_fail_the_run(self):
        text = self.run_lanes("--then", "cat .build/reports/test/results.json", "a --filter skip-listed", code=1, last="1 passed, 0 failed, 2 skipped")
        self.assertIn('"skips": [\n    "skipped: no root: a device"\n   ]', text)
        self.run_lanes("--then", "test -d", "a --filter passing", code=0, last="2 passed, 0 failed, 0 skipped")

    def test_a_wrong_lane_is_refused(self):
        for wrong in ("a width=two --filter passing", "a after=b --filter passing"):
            done = subprocess.run(self.command(wrong), cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)

    # Verified to fail when keepers do not notice that the runner has ended.
    def test_a_signal_ends_everything_at_once(self):
        self.addCleanup(lambda: [os.kill(process, signal.SIGKILL) for line in ("sleep 1000.25", "sleep 1000.75") for process in running(line)])
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            runner = subprocess.Popen(self.command("a --filter hang", "b check sh -c 'sleep 1000.75 & sleep 1000.75'", limit=4 * PATIENCE),
                                      cwd=self.folder, stdout=subprocess.DEVNULL)
            self.until(lambda: running("sleep 1000.25") and running("sleep 1000.75"))
            runner.send_signal(number)
            self.assertEqual(runner.wait(PATIENCE), -number)
            self.until(lambda: not running("sleep 1000.25") and not running("sleep 1000.75"))

    def test_tests_see_no_terminal(self):
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execv(self.command()[0], self.command("a --filter terminal"))
        text = b""
        try:
            while part := os.read(terminal, 4096):
                text += part
        except OSError:
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0, text)

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)


def running(line):
    every = processes.descendants(1, processes.children())
    return [process for process in every if processes.command_line(process) == line]


class StreamOfUnittest(unittest.TestCase):
    """What `unittest_stream.py` writes."""

    TESTS = """
import unittest
class Some(unittest.TestCase):
    def test_passes(self): pass
    def test_fails(self): self.assertEqual(1, 2)
    def test_raises(self): raise KeyError("x")
    def test_parts(self):
        for number in range(3):
            with self.subTest(number=number): self.assertNotEqual(number, 1)
    @unittest.skip("skipped: no root: a file of another user")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_surprise(self): pass
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("no folder")
    def test_never(self): pass
"""

    def test_each_result_is_in_the_stream(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_some.py"), "w") as file:
                file.write(self.TESTS)
            with open(os.path.join(folder, "page.md"), "w") as page:
                page.write(ALLOWED.replace("FakeTests.Suite", "Some"))
            command = ["/usr/bin/python3", "-B", os.path.join(HERE, "unittest_stream.py"), "Some", "discover", "-s", "."]
            done = subprocess.run([os.path.join(HERE, "run"), "--page", "page.md", "a stream " + " ".join(command)], cwd=folder,
                                  capture_output=True, text=True)
        lines = done.stdout.splitlines()
        self.assertEqual((done.returncode, lines[-1]), (1, "1 passed, 4 failed, 1 skipped, 1 not run"), done.stdout + done.stderr)
        for name in ("fails", "raises", "parts", "surprise"):
            self.assertRegex(done.stdout, rf"(?m)^  Some.test_some/Some/test_{name}: ")
        self.assertIn("OSError: no folder", done.stdout)
        self.assertIn("      Some.test_some/Broken/test_never", lines)


if __name__ == "__main__":
    unittest.main()
