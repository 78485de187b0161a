"""What a person reads at the end of a run: what failed, what was skipped and why, and the count of the tests."""
import collections
import json
import os
import re

from stream import FAILED, NOT_RUN, PASSED, SKIPPED

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PAGE = os.path.join(ROOT, "docs", "testing.md")
HEADING = "### What a machine may lack"
# Longer lists of names are in the files of the lane.
SHOWN_NAMES = 30


class AllowedSkips:
    """The table of docs/testing.md: what a machine may lack, and the tests that are then skipped."""

    def __init__(self, page):
        with open(page, encoding="utf-8") as file:
            _, _, section = file.read().partition(f"\n{HEADING}\n")
        self.rows = []
        for line in section.partition("\n#")[0].splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if len(cells) == 3 and not cells[0].startswith(("-", "lack")):
                self.rows.append((cells[0].strip("`"), re.findall(r"`([^`]+)`", cells[2])))
        if not self.rows:
            raise ValueError(f"{page} has no table below “{HEADING}”")

    def has(self, test, reason):
        return any(
            reason.startswith(f"skipped: {lack}: ") and any(is_in(test, place) for place in places) for lack, places in self.rows)


def is_in(test, place):
    """Whether a test is in a target, a suite, or is itself the place."""
    return test == place or test.startswith((place + ".", place + "/", place + "("))


def lane_line(run):
    """What is printed when a lane ends."""
    count = collections.Counter(test.result for test in run.tests)
    parts = [f"{number} {word}" for word, number in count.items() if word != PASSED]
    verdict = "passed" if run.has_passed else "FAILED"
    tests = f" {len(run.tests)} tests" + (f", {', '.join(parts)}" if parts else "") if run.tests else ""
    width = f", at most {run.stream.most} at a time" if run.lane.kind == "tests" and run.lane.width > 1 else ""
    return (f"{run.lane.name}: {verdict} after {run.seconds:.0f} s:{tests}{width}; at most {run.open_files} open files in a process, "
            f"{run.memory >> 20} MiB in all")


def find_faults(runs, allowed):
    """What must not be: pairs of a test or a lane, and what is wrong with it."""
    faults = []
    for run in runs:
        lane = f"lane {run.lane.name}"
        faults += [(lane, fault) for fault in run.faults]
        for test in run.tests:
            faults += [(test.name, issue) for issue in test.issues]
            faults += [(test.name, f"skipped for a reason that docs/testing.md does not list for it: “{reason}”")
                       for reason in test.skips if not allowed.has(test.name, reason)]
        if not_run := sorted(test.name for test in run.tests if test.result == NOT_RUN):
            faults.append((lane, "\n".join([f"{len(not_run)} tests were not run:", *shortened(not_run)])))
    return faults


def show(runs, peak, folder, faults):
    """Prints everything but the count."""
    if len(runs) > 1 and any(run.lane.is_shown for run in runs):     # Their output is between the lines of the lanes.
        print("", *[lane_line(run) for run in runs if run.was_started], sep="\n")
    print(f"\nAt most {peak >> 20} MiB in all lanes together. The output of each lane is in {folder}.")
    for run in runs:
        for warning in run.warnings:
            print_indented(f"Warning: lane {run.lane.name}: {warning}")
    show_faults(faults)
    skips = collections.defaultdict(list)
    for run in runs:
        for test in run.tests:
            for reason in test.skips:
                skips[reason].append(test.name)
    if skips:
        print("\nWhat was skipped:")
        for reason, tests in sorted(skips.items()):
            print_indented("\n".join([reason.removeprefix("skipped: ") or "no reason given", *sorted(tests)]))


def show_faults(faults):
    if faults:
        print("\nWhat failed:")
        for who, what in faults:
            print_indented(f"{who}: {what}".replace(ROOT + "/", ""))


def print_indented(text):
    first, *rest = text.splitlines()
    print(f"  {first}")
    for line in rest:
        print(f"      {line}")


def shortened(names):
    return names if len(names) <= SHOWN_NAMES else [*names[:SHOWN_NAMES], f"and {len(names) - SHOWN_NAMES} more"]


def count_line(runs):
    count = collections.Counter(test.result for run in runs for test in run.tests)
    line = f"{count[PASSED]} passed, {count[FAILED]} failed, {count[SKIPPED]} skipped"
    return line + (f", {count[NOT_RUN]} not run" if count[NOT_RUN] else "")


def write_results(runs, path):
    """For scripts/requirements: each test with its result and why it was skipped, and the lanes that passed."""
    tests = [{"name": test.name, "lane": run.lane.name, "result": test.result, "seconds": round(test.seconds, 3), "skips": test.skips}
             for run in runs for test in run.tests]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"lanes": {run.lane.name: run.has_passed for run in runs}, "tests": tests}, file, indent=1)
