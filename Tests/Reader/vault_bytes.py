"""Integers, records, seals' primitives and the schema, as sections 1 to 4 of docs/format/vault-file.md name them."""
import functools
import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

TABLES = """
CREATE TABLE header(id INTEGER PRIMARY KEY CHECK(id = 1), body BLOB NOT NULL, mac BLOB NOT NULL) STRICT
CREATE TABLE slot(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, subject INTEGER NOT NULL, generation INTEGER NOT NULL, opener INTEGER NOT NULL, opener_id BLOB NOT NULL, body BLOB NOT NULL) STRICT
CREATE TABLE head(id INTEGER PRIMARY KEY CHECK(id = 1), body BLOB NOT NULL) STRICT
CREATE TABLE item(row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, primary_key BLOB NOT NULL UNIQUE, name BLOB UNIQUE, flags INTEGER NOT NULL, class INTEGER NOT NULL, generation INTEGER NOT NULL, version INTEGER NOT NULL, material INTEGER NOT NULL, expires INTEGER, meta BLOB NOT NULL) STRICT
CREATE TABLE material(row INTEGER PRIMARY KEY, keys BLOB NOT NULL, secret BLOB NOT NULL) STRICT
CREATE TABLE state(row INTEGER PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL) STRICT
CREATE TABLE blind(value BLOB NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(value, row)) STRICT, WITHOUT ROWID
CREATE TABLE segment(number INTEGER PRIMARY KEY, first INTEGER NOT NULL, previous BLOB NOT NULL, start BLOB NOT NULL) STRICT
CREATE TABLE audit(sequence INTEGER PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL) STRICT
""".strip().split("\n")

FORMER = ("CREATE TABLE former(row INTEGER NOT NULL, version INTEGER NOT NULL, meta BLOB NOT NULL, keys BLOB NOT NULL, "
          "secret BLOB NOT NULL, PRIMARY KEY(row, version)) STRICT, WITHOUT ROWID")

PASSCODE, PRESENCE, ANY, SET, MEMBER = 0x01000000, 0x02000000, 0x03000000, 0x04000000, 0x06000000
SEARCHABLE = (2, 3, 4, 7, 12, 15, 21, 22, 40, 41, 43)
NOW = 1_790_000_000_000
BOOT_ID = bytes(range(16))


def u8(x): return struct.pack(">B", x)
def u16(x): return struct.pack(">H", x)
def u32(x): return struct.pack(">I", x)
def u64(x): return struct.pack(">Q", x)
def i64(x): return struct.pack(">q", x)
def sha(x): return hashlib.sha256(x).digest()
def hm(k, m): return hmac.new(k, m, hashlib.sha256).digest()
def derive(k, info, n=32, salt=None): return HKDF(SHA256(), n, salt, info).derive(k)


def record(fields):
    out = b""
    for number in sorted(fields):
        if fields[number] is not None:
            out += u16(number) + u32(len(fields[number])) + fields[number]
    return out


def listed(values): return record(dict(enumerate(values, 1)))
def string(text): return b"\x01" + text.encode()
def raw(data): return b"\x02" + data
def integer(x): return b"\x03" + i64(x)
def boolean(x): return b"\x04" + u8(int(x))
def date(x): return b"\x05" + i64(x)


@functools.cache
def public(scalar):
    return X25519PrivateKey.from_private_bytes(scalar).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def agree(scalar, peer):
    return X25519PrivateKey.from_private_bytes(scalar).exchange(X25519PublicKey.from_public_bytes(peer))
