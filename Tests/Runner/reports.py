"""The directory that gets the output of a run."""
import contextlib
import fcntl
import itertools
import os
import shutil

PLACE = os.path.join(".build", "reports")


@contextlib.contextmanager
def folder(name):
    """`.build/reports/NAME`, emptied. If another run uses it, `NAME-2` and so on."""
    for number in itertools.count(1):
        path = os.path.join(PLACE, name if number == 1 else f"{name}-{number}")
        os.makedirs(path, exist_ok=True)
        lock = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            os.close(lock)
    for entry in os.scandir(path):
        shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(entry.path)
    try:
        yield path
    finally:
        os.close(lock)
