"""What the tests of the reader share: a vault in a folder of its own, read, changed and refused."""
import functools
import importlib.util
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import make_vault

HERE = os.path.dirname(os.path.abspath(__file__))
READER = os.path.join(HERE, "..", "..", "docs", "format", "open_vault.py")
PASSCODE = "grün 1".encode()

spec = importlib.util.spec_from_file_location("open_vault", READER)
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
# The same vault is opened thousands of times, and OpenSSL needs half a millisecond to load a private key.
reader.public, reader.exchange = functools.cache(reader.public), functools.cache(reader.exchange)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "a.vault")

    def make(self, entries=0, small=False, maker=make_vault.Maker, passcode=PASSCODE, **options):
        self.maker = make_vault.make(self.path, entries, small, maker(passcode=passcode, **options))
        return self.maker

    def read(self, path=None, **keys):
        keys = keys or {"device_key": self.maker.device_key, "passcode": self.maker.passcode}
        return reader.Vault(path or self.path, **keys).out

    def refused(self, message, code=10, **keys):
        with self.assertRaises(reader.Failure) as caught:
            self.read(**keys)
        self.assertIn(message, str(caught.exception))
        self.assertEqual(caught.exception.code, code)

    def sql(self, *statements, path=None):
        db = sqlite3.connect(path or self.path, isolation_level=None, timeout=1)
        db.execute("PRAGMA synchronous = OFF")
        for statement in statements:
            db.execute(*(statement if isinstance(statement, tuple) else (statement,)))
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()

    def bytes_of(self, path):
        with open(path, "rb") as f:
            return f.read()

    def run_reader(self, *arguments, **channels):
        for name, secret in channels.items():
            r, w = os.pipe()
            os.write(w, secret)
            os.close(w)
            arguments += (f"--{name}-fd", str(r))
            channels[name] = r
        done = subprocess.run([sys.executable, READER, *arguments], capture_output=True, pass_fds=list(channels.values()))
        for r in channels.values():
            os.close(r)
        return done


def always(expected): return expected["opens"] is True
