"""A clock for the runner that the programs of its lanes move, so that no limit depends on how busy the machine is.

As a program, `held_clock.py RUN ARGUMENTS…` runs the runner with it. The clock stands still until each lane waits for a later time
or has ended, and then moves one second with each turn of the runner, which has read by then what each lane wrote before.
"""
import math
import os
import runpy
import sys
import time

# The folder in which the runner says the time and each program that it waits.
FOLDER, LANES = "HELD_CLOCK", "HELD_CLOCK_LANES"


def environment(folder, lanes):
    return {FOLDER: folder, LANES: str(lanes)}


class HeldClock:
    """The side of the runner."""

    def __init__(self, folder, lanes):
        self.folder, self.lanes, self.seconds = folder, lanes, 0

    def __call__(self):
        if sum(map(self._is_waiting, os.listdir(self.folder))) == self.lanes:
            self.seconds += 1
            write(os.path.join(self.folder, "now"), str(self.seconds))
        return self.seconds

    def _is_waiting(self, name):
        if not name.startswith("waits-"):
            return False
        try:
            with open(os.path.join(self.folder, name)) as file:
                return float(file.read()) > self.seconds
        except FileNotFoundError:
            return False


class Lane:
    """The side of a program. Without the runner's clock, nothing ends but by its own limit."""

    def __init__(self):
        folder = os.environ.get(FOLDER)
        self.now = os.path.join(folder, "now") if folder else None
        self.mark = os.path.join(folder, f"waits-{os.getpid()}") if folder else None

    def wait(self, seconds=math.inf):
        """Until the clock has moved by `seconds`; without them, for good."""
        while not self.mark:
            time.sleep(1000)
        end = self._read() + seconds
        self._let_move_until(end)
        while self._read() < end:
            time.sleep(0.02)

    def end(self):
        """The clock need not stand still for this program any longer."""
        if self.mark:
            self._let_move_until(math.inf)

    def _let_move_until(self, end):
        write(self.mark, str(end))

    def _read(self):
        try:
            with open(self.now) as file:
                return int(file.read())
        except FileNotFoundError:
            return 0


def write(path, text):
    folder, name = os.path.split(path)
    new = os.path.join(folder, "new-" + name)
    with open(new, "w") as file:
        file.write(text)
    os.rename(new, path)


if __name__ == "__main__":
    run, sys.argv = sys.argv[1], sys.argv[1:]
    sys.path.insert(0, os.path.dirname(run))
    import lanes
    lanes.clock = HeldClock(os.environ[FOLDER], int(os.environ[LANES]))
    runpy.run_path(run, run_name="__main__")
