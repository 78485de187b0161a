#!/usr/bin/python3
"""Opens a vault from docs/format/vault-file.md alone, checks all of it, and prints it. It never writes.

Debian 12: python3-cryptography, python3-argon2. Exit codes are vaultctl's: 2 usage, 3 wrong passcode, recovery code or
passphrase, 10 damaged, 11 wrong device key, 13 I/O, 14 no vault, 15 newer format. It does not wipe memory: use it only for tests and for rescue."""
import argparse, base64, hashlib, hmac, json, os, sqlite3, sys, unicodedata, urllib.parse
from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SCHEMA = {name: f"CREATE TABLE {name}({rest}" for name, rest in {
  "header": "id INTEGER PRIMARY KEY CHECK(id = 1), body BLOB NOT NULL, mac BLOB NOT NULL) STRICT",
  "slot": "id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, subject INTEGER NOT NULL, generation INTEGER NOT NULL, opener INTEGER NOT NULL, opener_id BLOB NOT NULL, body BLOB NOT NULL) STRICT",
  "head": "id INTEGER PRIMARY KEY CHECK(id = 1), body BLOB NOT NULL) STRICT",
  "item": "row INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, kind INTEGER NOT NULL, primary_key BLOB NOT NULL UNIQUE, name BLOB UNIQUE, flags INTEGER NOT NULL, class INTEGER NOT NULL, generation INTEGER NOT NULL, version INTEGER NOT NULL, material INTEGER NOT NULL, expires INTEGER, meta BLOB NOT NULL) STRICT",
  "material": "row INTEGER PRIMARY KEY, keys BLOB NOT NULL, secret BLOB NOT NULL) STRICT",
  "state": "row INTEGER PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL) STRICT",
  "blind": "value BLOB NOT NULL, row INTEGER NOT NULL, PRIMARY KEY(value, row)) STRICT, WITHOUT ROWID",
  "segment": "number INTEGER PRIMARY KEY, first INTEGER NOT NULL, previous BLOB NOT NULL, start BLOB NOT NULL) STRICT",
  "audit": "sequence INTEGER PRIMARY KEY, body BLOB NOT NULL, mac BLOB NOT NULL) STRICT"}.items()}
FORMER = ("CREATE TABLE former(row INTEGER NOT NULL, version INTEGER NOT NULL, meta BLOB NOT NULL, keys BLOB NOT NULL, secret BLOB NOT NULL, "
  "PRIMARY KEY(row, version)) STRICT, WITHOUT ROWID")
ATTRIBUTES = dict(enumerate("""name,service,account,label,comment,description,generic,creator,type,invisible,negative,accessGroup,
synchronizable,accessibility,server,securityDomain,protocol,authenticationType,port,path,applicationLabel,applicationTag,keyClass,
keyType,bits,effectiveBits,startDate,endDate,canEncrypt,canDecrypt,canDerive,canSign,canVerify,canWrap,canUnwrap,tokenID,
certificateType,certificateEncoding,subject,issuer,serialNumber,subjectKeyID,publicKeyHash,creationDate,
modificationDate""".replace("\n", "").split(","), 1)) | {64: "otpType", 65: "otpRole", 66: "otpAlgorithm", 67: "otpDigits",
  68: "otpPeriod", 69: "otpWindow", 70: "pinItem", 71: "pinAttemptLimit", 72: "ocraSuite", 73: "pinPolicy"} | dict(enumerate("""transport,peerName,device,offlineCodes,offlineSeconds,
peerPinMode,unlockAtPeer,credential,peerKeepsUnlockKey,unlockEndsWith,publicHalf,certificates,challenge,channel,card,template,nonces,
standing,untold,notShown,credentialToBe,otpSecretBits,tags,expiryBeforeTrash""".replace("\n", "").split(","), 75))
INDEXED = {2, 3, 4, 7, 12, 15, 21, 22, 40, 41, 43}
PRIMARY = {1: [2, 3], 2: [3, *range(15, 21)], 3: [8, *range(21, 29)], 4: [37, 40, 41], 22: [3, 4], 23: [3]}
KINDS = {1: "genericPassword", 2: "internetPassword", 3: "key", 4: "certificate", 16: "otp", 17: "pin", 18: "biokey", 19: "cardToken",
  20: "consent", 21: "clientRegistration", 22: "transaction", 23: "tokenSet", 24: "responseJWT", 25: "attachment"}
REGISTRATION = {1: "clientId", 2: "issuer", 3: "tokenEndpoint", 4: "authentication", 5: "authorizationEndpoint", 6: "revocationEndpoint",
  8: "secretExpires", 9: "clientKey", 10: "redirectUri", 11: "template", 12: "namesItself", 13: "deviceAuthorizationEndpoint"}   # 7 is the secret
PROGRAMS, WITH_STATE = range(0x8000, 0xC000), {16, 17, 18, 19, 20}
STATE = {"bits": (1, 2), "failures": (4, 8), "counter": (8, 16), "lastAccepted": (16, 24), "lastUse": (24, 32), "delay": (56, 64),
  "clockOffset": (64, 72), "usesLeft": (72, 76), "unconfirmed": (76, 80), "reservedEnd": (96, 104), "uses": (104, 112), "state": (112, 113),
  "wrongUnlockCodes": (113, 114), "resends": (114, 116), "underWay": (116, 120), "deadline": (120, 128), "lastSync": (144, 152),
  "codesSinceSync": (152, 156), "secondsOffset": (156, 160)}
SIGNED = ("lastUse", "clockOffset", "lastSync", "secondsOffset")
ENTRY = {1: "wall", 2: "boot", 4: "uid", 5: "pid", 7: "operation", 9: "kind", 10: "result", 12: "outcome", 13: "callerUid", 14: "callerPid"}
OUTCOMES = {1: "answered", 2: "cancelled", 3: "signal", 4: "timeout", 5: "program"}
EXTRA = {1: "the application password", 2: "the PIN", 4: "the session"}
WHEN_UNLOCKED, AFTER_FIRST_UNLOCK, DEVICE_ONLY, ANY, LOGIN, RECOVERY = 1, 2, 0x80, 0x03000000, 0x05000000, 0x07000000
KNOWN_SLOTS = {1: (1, 2, 3), 2: (1,), 3: (4, 8), 4: (5, 6, 7), 5: (4, 8), 6: (8,)}   # openers by kind; slots of a later version are ignored

class Failure(Exception):
  def __init__(self, message, code=10): super().__init__(message); self.code = code
def need(truth, message, code=10):
  if not truth: raise Failure(message, code)

# ---- notation (section 1) and seals (section 4)
def u(value, size, signed=False):
  try: return value.to_bytes(size, "big", signed=signed)
  except OverflowError: raise Failure(f"damaged: {value} does not fit {size} bytes")
def n(data, signed=False): return int.from_bytes(data, "big", signed=signed)
def H(data): return hashlib.sha256(data).digest()
def mac(key, data): return hmac.digest(key, data, "sha256")
def hkdf(key, info, size=32, salt=bytes(32)):
  prk, out, block, i = mac(salt, key), b"", b"", 0
  while len(out) < size: i += 1; block = mac(prk, block + info + bytes([i])); out += block
  return out[:size]
def encode(fields): return b"".join(u(k, 2) + u(len(v), 4) + v for k, v in sorted(fields.items()) if v is not None)
def decode(data, what, **sizes):
  """The fields of a record; `f3=16` says that field 3 must be present, with 16 bytes (None: any number)."""
  fields, at, last = {}, 0, -1
  while at < len(data):
    number, size = n(data[at:at + 2]), n(data[at + 2:at + 6])
    need(len(data) >= at + 6 + size and number > last, f"damaged: {what} is no record")
    fields[number], at, last = data[at + 6:at + 6 + size], at + 6 + size, number
  for name, size in sizes.items():
    need(int(name[1:]) in fields and size in (None, len(fields[int(name[1:])])), f"damaged: {what}, field {name[1:]}")
  return fields
def items_of(data, what):
  fields = decode(data, what); need(list(fields) == list(range(1, len(fields) + 1)), f"damaged: {what} is no list"); return list(fields.values())
def packed(fields, number, size):
  """The entries of a packed list; none if the field is absent."""
  data = fields.get(number, b""); entries = [data[i:i + size] for i in range(0, len(data), size)]
  need(len(data) % size == 0 and (data or number == 6 or number not in fields), f"damaged: header field {number}, length")
  ascending = number == 20 or all(a[:4] < b[:4] for a, b in zip(entries, entries[1:]))
  need(ascending and len(set(entries)) == len(entries), f"damaged: header field {number}, order or an entry twice"); return entries
def open1(key, label, aad, blob, what, wrong=None):
  need(len(blob) >= 2, f"damaged: {what} is too short"); need(blob[0] and blob[1], f"damaged: {what} is no seal"); need(blob[:2] == b"\1\1", f"{what}: seal of an unknown version or suite", 15)
  need(len(blob) >= 82, f"damaged: {what} is too short")
  okm = hkdf(key, label + b"\0\1\1" + H(aad), 64, blob[2:34])
  if not hmac.compare_digest(okm[32:], blob[34:66]): raise wrong or Failure(f"damaged: {what} is not bound to this place, or of another key")
  try: return AESGCM(okm[:32]).decrypt(bytes(12), blob[66:], None)
  except InvalidTag: raise Failure(f"damaged: {what}, wrong tag")
def kdf_record(data, what):
  k = decode(data, what, f1=1, f2=4, f3=4, f4=4, f5=4, f6=16); need(k[1] == b"\1" and n(k[2]) == 0x13, f"{what}: unknown algorithm", 15); return k
def argon(secret, fields_bytes, what, cheap):
  k = kdf_record(fields_bytes, what); memory, passes, lanes = n(k[3]), n(k[4]), n(k[5])
  need((cheap or (memory >= 19 << 10 and passes >= 2)) and memory <= 1 << 20 and 1 <= passes <= 16 and 1 <= lanes <= 64
    and memory >= 8 * lanes, f"damaged: {what}, parameters out of bounds")
  return hash_secret_raw(secret, k[6], passes, memory, lanes, 32, Type.ID, 0x13)
def forms(secret):
  """What a person typed, prepared (section 3), and the bytes as given where they are others."""
  try: text = secret.decode()
  except UnicodeDecodeError: return [secret]
  prepared = unicodedata.normalize("NFC", "".join(" " if unicodedata.category(c) == "Zs" else c for c in text)).encode()
  return [prepared] if prepared == secret else [prepared, secret]
def first_right(secret, attempt):
  """The result of `attempt` for the first form that is right: all forms are one attempt."""
  tried = [None] if secret is None else forms(secret)
  for form in tried:
    try: return attempt(form)
    except Failure as failure:
      if failure.code != 3 or form is tried[-1]: raise
def public(private): return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
def exchange(private, peer):
  try: return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(peer))
  except ValueError: raise Failure("damaged: a public half that is no point")
def b64(data): return base64.b64encode(data).decode()
def is_text(data):
  try: return data.decode() is not None
  except UnicodeDecodeError: return False

class Vault:
  def __init__(self, path, device_key=None, passcode=None, recovery=None, passphrase=None, phrase=None, application_password=None, pin=None, session=None):
    need(os.path.isfile(path), "no vault at that path", 14)
    self.inode, self.out, self.application_password, self.pin, self.session = os.stat(path).st_ino, {}, application_password, pin, session
    self.db = None
    try: self.read_tables(path)
    finally: self.db and self.db.close()
    first_right(passphrase, lambda form: self.open_header(device_key, recovery, form))
    first_right(passcode, lambda form: first_right(phrase, lambda other: self.open_keys(device_key, form, other)))
    need(self.keeps_former == (b"\0\0\0\4" in packed(self.h, 6, 4)), "damaged: the table of former secrets and header field 6 differ")
    self.open_head(); self.open_items(); self.check_sum(); self.open_audit()

  # ---- section 2
  def read_tables(self, path):
    uri = "file:" + urllib.parse.quote(os.path.abspath(path)) + "?mode=ro"
    try: db = sqlite3.connect(uri, uri=True); db.execute("SELECT 1 FROM sqlite_schema")
    except sqlite3.OperationalError:                       # a read-only medium without -wal
      wal = path + "-wal"; need(not os.path.exists(wal) or not os.path.getsize(wal), "a -wal lies beside a vault that cannot be opened for it", 13)
      db = sqlite3.connect(uri + "&immutable=1", uri=True)
    db.execute("PRAGMA trusted_schema=OFF"); db.execute("PRAGMA cell_size_check=ON"); db.execute("BEGIN")
    self.db = db; one = lambda sql: db.execute(sql).fetchone()[0]
    need(one("PRAGMA application_id") == 0x564C5431, "damaged: not a vault (application id)")
    version = one("PRAGMA user_version"); need(version <= 1, f"newer format: {version}", 15); need(version == 1, "damaged: user version")
    need(one("PRAGMA encoding") == "UTF-8" and one("PRAGMA page_size") == 4096, "damaged: page size or encoding")
    former = db.execute("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'former'").fetchone()
    need(former in (None, (FORMER,)), "newer format: a table of a later version", 15); self.keeps_former = former is not None
    found = db.execute("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL OR name NOT LIKE 'sqlite_autoindex_%'").fetchall()
    schema = SCHEMA | ({"former": FORMER} if former else {})
    need(len(found) == len(schema) and {(t, name): sql for t, name, sql in found} == {("table", name): sql for name, sql in schema.items()}, "damaged: the schema is not that of format 1")
    need(one("PRAGMA integrity_check") == "ok", "damaged: SQLite's integrity check fails")
    shapes = {"header": "ibb", "slot": "iiiiibb", "head": "ib", "item": "ibibBiiiiiIb", "material": "ibb", "state": "iib", "blind": "bi", "segment": "iibb", "audit": "ibb"} | ({"former": "iibbb"} if former else {})
    kinds = {"i": (int,), "b": (bytes,), "I": (int, type(None)), "B": (bytes, type(None))}
    self.former = []
    for table, shape in shapes.items():
      rows = db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall(); setattr(self, table, rows)
      need(all(isinstance(v, kinds[s]) for r in rows for v, s in zip(r, shape)), f"damaged: a value of another type in {table}")
    need(len(self.header) == 1 and len(self.head) == 1, "damaged: header or head row missing")

  # ---- sections 3 and 5
  def aad(self, part, fields): return encode({1: self.id, 3: part.encode(), **fields})
  def slot_aad(self, slot, layer, kdf=None):
    generation = None if layer == 2 and slot[1] in (4, 5) else u(slot[3], 4)
    return self.aad("slot", {4: generation, 20: u(slot[1], 1), 21: u(slot[2], 4), 22: u(slot[4], 1), 23: slot[5], 24: kdf, 25: u(layer, 1)})
  def open_slot(self, slot, key, layer=1, blob=None, kdf=None, wrong=None):
    what = f"slot {slot[0]} (kind {slot[1]}, opener {slot[4]}, layer {layer})"
    return open1(key, b"vault/1/seal-slot", self.slot_aad(slot, layer, kdf), slot[6] if blob is None else blob, what, wrong)
  def root_slot(self, generation, opener):
    found = [s for s in self.slot if s[1:6] == (1, 0, generation, opener, self.h[10] if opener == 1 else b"")]
    need(found, f"no root key of generation {generation} for this opener", 11 if opener == 2 else 10); return found[0]

  def open_header(self, device_key, recovery, passphrase):
    (_, body, tag), = self.header; h = self.h = decode(body, "header", f1=2, f2=16, f3=8, f4=8, f5=1, f6=None, f7=4, f9=1, f10=16)
    need(n(h[1]) == 1 and n(h[5]) == 1, "newer format: header", 15); features = {n(e) for e in packed(h, 6, 4)}
    need(features <= {1, 2, 3, 4}, f"newer format: required features {h[6].hex()}", 15)
    need(features >= {1, 2, 3}, "made before the first release: export its items with the program that made it, then import them", 15)
    self.id, self.generation, self.marks = h[2], n(h[7]), n(h.get(17, b"")); self.cheap = bool(self.marks & 1); self.check_fields()
    opener, wrapping, kdf, cut = self.root_opener(device_key, recovery, passphrase)
    def open_root(g):
      slot = self.root_slot(g, opener); value = self.open_slot(slot, wrapping(slot), 1, slot[6][cut:], kdf, Failure("wrong passphrase", 3) if opener == 3 else None)
      need(len(value) == 32, "damaged: a root key that is not 32 bytes"); return value
    self.rk = {self.generation: open_root(self.generation)}
    slots = encode({i: encode({1: u(s[0], 8), 2: u(s[1], 1), 3: u(s[2], 4), 4: u(s[3], 4), 5: u(s[4], 1), 6: s[5], 7: s[6]}) for i, s in enumerate(self.slot, 1)})
    need(hmac.compare_digest(mac(self.key("header"), encode({1: body, 2: slots})), tag), "damaged: header MAC")
    if 8 in h: self.rk[n(h[8])] = open_root(n(h[8]))       # an epoch rotation is under way
    self.open_set(); self.check_slots()
    self.out |= {"vaultId": self.id.hex(), "format": 1, "created": n(h[3], True), "config": n(h[4]), "generation": self.generation, "protector": n(h.get(9, b"")),
      "keyId": h.get(10, b"").hex(), "passcode": 11 in h, "recovery": self.has_recovery, "backup": 18 in h, "testMade": 17 in h,
      "cheapDerivation": self.cheap, "predictableRandom": bool(self.marks & 2)}
  def check_fields(self):
    """Checks the form of each header field; the MAC is checked elsewhere."""
    h = self.h; number = lambda e: n(e[:4]); known = lambda f: f in (0x01000000, 0x02000000, ANY, LOGIN) or f >> 24 in (4, 6)
    need(1 <= n(h[4]) < 1 << 62 and 1 <= self.generation < 0xFFFFFFFF and n(h.get(8, u(self.generation - 1, 4))) == self.generation - 1, "damaged: config or generation")
    need(h[9][0] in (1, 2, 3) or h[9][0] >= 128, "a protector of a later version", 15); need(17 not in h or h[17] in (b"\1", b"\2", b"\3"), "damaged: header field 17")
    need(all(len(h.get(f, bytes(32))) == 32 for f in (12, 16)), "damaged: header field 12 or 16, length")
    self.factors = {number(e): e[4:] for e in packed(h, 13, 36)}; need(all(map(known, self.factors)), "damaged: factors")
    self.revoked = {number(e) for e in packed(h, 19, 4)}; need(all(f in (LOGIN, RECOVERY) or f >> 24 in (4, 6) for f in self.revoked), "damaged: header field 19")
    replaced = packed(h, 20, 16); need(h[10] not in replaced and len(replaced) <= 64 and not (replaced and 18 in h), "damaged: header field 20")
    for f in (11, 15): f in h and kdf_record(h[f], f"header field {f}")
    if 18 in h: kdf_record(decode(h[18], "header field 18", f1=8, f2=None, f3=4)[2], "header field 18")
    self.has_recovery = 12 in h and RECOVERY not in self.revoked
  def open_set(self):
    """The enrolled set; the valid members are those that field 19 does not name."""
    h = self.h; self.set_record, members = None, []
    if 14 in h:
      need(n(h[14][2:6]) == self.generation, "damaged: generation of the enrolled set")
      self.set_record = self.open2("meta", self.aad("enrolled", {}), h[14], "enrolled set"); e = decode(self.set_record, "enrolled set", f1=4, f2=32, f3=None)
      members = [decode(m, "member", f1=16, f2=1, f3=None, f4=8, f5=4) for m in items_of(e[3], "members")]
      fingers = sorted(m[3] for m in members if m[2] == b"\2")
      need(n(e[1]) < 1 << 24 and e[2] == H(encode(dict(enumerate(fingers, 1)))), "damaged: generation or digest of the enrolled set")
    need(len({m[5] for m in members}) == len({m[1] for m in members}) == len(members), "damaged: two members with one factor or one id")
    for m in members:
      source, f = m[2][0], n(m[5]); need(source in (1, 2, 3) and (f >> 24 == 6 or f == LOGIN), "damaged: source or factor of a member")
      need(is_text(m[3]), "damaged: the label of a member is not UTF-8")
      need((source == 3) == (f == LOGIN), "damaged: a member under the login password's number, or it under a member's")
    self.members = {m[1]: (m[2][0], n(m[5])) for m in members if n(m[5]) not in self.revoked}   # id: (source, factor number)
    outlived = {13, 15, 16, 19} & h.keys() or members or any(s[1] in (4, 6) for s in self.slot)
    need(11 in h or not outlived, "damaged: factors or members without a passcode"); need(11 not in h or 16 in h and any((s[1], s[4]) == (6, 8) for s in self.slot), "damaged: header field 16 or its key is missing")
  def check_slots(self):
    need(len(self.slot) <= 16384 and len({s[1:6] for s in self.slot}) == len(self.slot), "damaged: too many slots, or two with one address")
    backup, there = 18 in self.h, {s[1:4] for s in self.slot if s[4] in KNOWN_SLOTS.get(s[1], ())}
    needed = {(3, c, g) for c in (WHEN_UNLOCKED, AFTER_FIRST_UNLOCK) for g in self.rk}
    if not backup: needed |= {(2, 0, self.generation), (3, 0x82, self.generation)} | ({(3, 0x81, self.generation)} if 11 not in self.h else set())
    need(needed <= there, f"damaged: keys are missing (kind, subject, generation): {needed - there}")
    classes = {1, 2} if backup else {1, 2, 0x81, 0x82} | ({0x83} if 11 in self.h else set())
    for number, kind, subject, generation, opener, opener_id, body in self.slot:
      need(len(opener_id) in (0, 16), f"damaged: slot {number}, opener id")
      if kind not in KNOWN_SLOTS or opener not in range(1, 9): continue
      what = f"slot {number}, kind {kind} with opener {opener}"
      # With a passcode, refuse an opener that does not need it: a person with the device key could have made such a slot.
      guarded = 11 in self.h and (kind != 3 or subject & 0x7F != AFTER_FIRST_UNLOCK)
      right = {1: (3,) if backup else (1, 2) if self.has_recovery else (1,), 2: () if backup else (1,), 6: (8,)}.get(kind, (8,) if guarded else (4,))
      need(opener in (KNOWN_SLOTS[4] if kind == 4 else right), f"damaged: {what}"); need(generation in (self.rk if kind < 4 else (self.generation,)), f"damaged: {what}, of another generation")
      need(len(opener_id) == (16 if opener in (1, 6) else 0), f"damaged: {what}, opener id"); need(len(body) >= 114, f"damaged: {what} is too short")
      need(opener != 1 or opener_id == self.h[10], f"damaged: {what}, of another device key")
      need(kind not in (1, 2, 6) or subject == 0, f"damaged: {what}, subject"); need(kind != 3 or subject in classes, f"damaged: {what}, class")
      need(kind != 4 or subject in self.factors and subject not in self.revoked, f"damaged: {what}, of a factor that does not exist")
      need(opener != 6 or opener_id in self.members, f"damaged: {what}, of no member")
    self.roots = {s[2] for s in self.slot if s[1] == 5 and s[4] in KNOWN_SLOTS[5]}
  def root_opener(self, device_key, recovery, passphrase):
    """The opener, a function from slot to outer key, the KDF record in the aad, and the length of the ephemeral half before the seal."""
    h = self.h
    if 18 in h:
      need(passphrase is not None, "a backup: --passphrase-fd is needed", 2); kdf = decode(h[18], "header field 18", f1=8, f2=None, f3=4)[2]
      key = hkdf(argon(passphrase, kdf, "passphrase KDF record", self.cheap), b"vault/1/passphrase"); return 3, lambda s: key, kdf, 0
    if device_key is not None:
      need(len(device_key) == 32, "the device key file does not hold 32 bytes", 11)
      need(mac(device_key, b"vault/1/key-id")[:16] == h.get(10), f"wrong device key: the vault wants {h.get(10, b'').hex()}", 11)
      return 1, lambda s: device_key, None, 0
    need(recovery is not None, "a device key or a recovery code is needed", 2)
    text = unicodedata.normalize("NFKC", bytes(recovery).decode("utf-8", "replace")).upper()   # digits of full width, too
    text = "".join(c for c in text if not c.isspace() and unicodedata.category(c) not in ("Pd", "Cf") and c != "\u2212")
    try: code = base64.b32decode(text)
    except ValueError: raise Failure("the recovery code is mistyped", 3)
    need(len(code) == 20 and H(b"vault/1/recovery-check" + code[:16])[:4] == code[16:], "the recovery code is mistyped", 3)
    private = hkdf(code[:16], b"vault/1/recovery"); R = public(private); need(h.get(12) == R, "not the recovery code of this vault", 3)
    return 2, lambda s: hkdf(exchange(private, s[6][:32]), b"vault/1/recovery-wrap" + s[6][:32] + R), None, 32
  def key(self, purpose, generation=None):
    g = self.generation if generation is None else generation
    need(g in self.rk, f"damaged: generation {g} is not one of this vault"); return hkdf(self.rk[g], b"vault/1/" + purpose.encode())
  def open2(self, purpose, aad, blob, what, size=None):
    need(len(blob) >= 2, f"damaged: {what} is too short"); need(blob[0] and blob[1], f"damaged: {what} is no seal"); need(blob[:2] == b"\1\2", f"{what}: seal of an unknown version or suite", 15)
    need(len(blob) >= 34, f"damaged: {what} is too short")
    try: plain = AESGCM(self.key(purpose, n(blob[2:6]))).decrypt(blob[6:18], blob[18:], blob[:6] + aad)
    except InvalidTag: raise Failure(f"damaged: {what} is not bound to this place, or changed")
    need(size in (None, len(plain)), f"damaged: {what}, length"); return plain

  def open_keys(self, device_key, passcode, phrase):
    h = self.h
    need(passcode is None or 11 in h, "a passcode was given, and this vault has none", 2)
    need(passcode is None or 1 <= len(passcode) <= 1024 and 0 not in passcode, "a passcode has 1 to 1,024 bytes and no NUL", 2)
    P = argon(passcode, h[11], "passcode KDF record", self.cheap) if passcode is not None else None
    self.typed = {8: hkdf(P, b"vault/1/unlock"), 5: hkdf(P, b"vault/1/prompt")} if P else {}
    if phrase is not None:
      need(15 in h, "a phrase was given, and no member of this vault has one", 2)
      base = argon(phrase, h[15], "phrase KDF record", self.cheap); self.typed |= {m: hkdf(base, b"vault/1/member" + m) for m in self.members}
    self.lk = {s[3]: self.open_slot(s, device_key) for s in self.slot if s[1] == 2} if device_key else {}
    self.ck, self.private, self.audit_root, self.trust = {}, {}, {}, None
    # A member's own half opens `any`, and `any` opens presence, so open them in this order.
    for s in sorted(self.slot, key=lambda s: (s[4] == 7, s[2] >> 24 not in (5, 6))):
      if s[1] in (3, 4, 5, 6) and s[4] in range(1, 9): self.open_stored_key(s)
    need(phrase is None or any(source == 1 and f in self.private for source, f in self.members.values()), "wrong phrase", 3)
    ck = self.ck.get((WHEN_UNLOCKED, self.generation)); self.out["unlocked"] = ck is not None
    need(11 not in h or (self.trust is None) == (ck is None), "damaged: class key and trust key do not open together")
    if self.trust:
      covered = {1: h.get(12), 2: h.get(13), 3: h.get(15), 4: self.set_record, 5: b"".join(u(f, 4) for f in sorted(self.roots)), 6: h.get(8)}
      expected = mac(hkdf(self.trust, b"vault/1/factor-mac"), encode(covered))
      need(hmac.compare_digest(h.get(16, b""), expected), "damaged: factor MAC")
  def open_stored_key(self, s):
    """Class key, private half of a factor, audit root or trust key. Stores nothing if the inner key is not known."""
    _, kind, subject, g, opener, opener_id, _ = s; what = f"slot {s[0]}"; local = kind == 3 and subject & DEVICE_ONLY
    if local and g not in self.lk: return
    value = self.open_slot(s, hkdf(self.rk[g] + self.lk[g], b"vault/1/slot-device") if local else hkdf(self.rk[g], b"vault/1/slot"))
    source, member = self.members.get(opener_id, (None, None))
    if opener == 6 and subject != member:                  # `any` or a set, wrapped to the public half of a member
      need(len(value) == 146, f"damaged: {what}, inner length")
      if member not in self.private: return
      E = value[:32]; key = hkdf(exchange(self.private[member], E), b"vault/1/member-wrap" + E + self.factors[member])
      value = self.open_slot(s, key, 2, value[32:])
    elif opener != 4 and (opener != 6 or source == 1):
      need(len(value) == 114, f"damaged: {what}, inner length")
      key = self.private.get(ANY) if opener == 7 else self.typed.get(opener_id if opener == 6 else opener)
      if key is None: return
      kdf, wrong = {5: self.h.get(11), 8: self.h.get(11), 6: self.h.get(15)}.get(opener), Failure("wrong passcode", 3) if opener in (5, 8) else Failure("", 3)
      try: value = self.open_slot(s, key, 2, value, kdf, None if opener == 7 else wrong)
      except Failure as failure:
        if failure is wrong and opener == 6: return        # perhaps the phrase of another member
        raise
    need(len(value) == 32, f"damaged: {what} holds no key")
    if kind == 3: self.ck[subject, g] = value
    elif kind == 5: self.audit_root[subject] = value
    elif kind == 6: self.trust = value
    else: need(public(value) == self.factors[subject], f"damaged: factor {subject:#x}, halves differ"); self.private[subject] = value

  # ---- section 8
  def open_head(self):
    b = self.head_row = self.open2("head", self.aad("head", {}), self.head[0][1], "head row", 320)
    need(n(b[0:2]) == 2, "damaged: head row of another layout"); need(b[8:16] == self.h[4], "damaged: config of head row and header differ")
    need(all(n(b[at:at + 8]) < 1 << 62 for at in (16, 24, 32, 40, 88, 184)) and n(b[96:104]) < 0xFFFFFFFF, "damaged: a count of the head row")
    need(n(b[96:104]) > 0, "damaged: a vault without a segment")
    need(all(f <= n(b[96:104]) for f in self.roots), "damaged: an audit root beyond the current segment")
    self.out |= {"sequence": n(b[16:24]), "cleaningPending": b[2] == 1, "copied": n(b[80:88]) not in (0, self.inode), "recordedTime": n(b[176:184], True)}
  def check_sum(self):
    need(n(self.head_row[32:40]) == len(self.item) and n(self.head_row[40:48]) == len(self.terms), "damaged: rows are missing or too many")
    total = sum(n(mac(self.key("sum", g), u(table, 1) + u(row, 8) + tags)) for table, row, tags, g in self.terms) % 2 ** 256
    need(hmac.compare_digest(u(total, 32), self.head_row[48:80]), "damaged: the sum over all rows differs (an old or foreign row)")

  # ---- sections 6 and 7
  def open_items(self):
    material, state, blind = {r[0]: r[1:] for r in self.material}, {r[0]: r[1:] for r in self.state}, {}
    for value, row in self.blind: blind.setdefault(row, set()).add(value)
    self.terms, self.out["items"], self.pins, self.modes, self.formers = [], [], {}, {}, {}
    for row, *rest in self.former: self.formers.setdefault(row, []).append(rest)
    zero = self.open_state(0, bytes(16), state.pop(0, None), None, 2); need(zero is not None, "damaged: no state row 0")
    self.out["vaultState"] = {"failures": n(zero[4:8]), "delay": n(zero[40:48]), "biometryFailures": n(zero[48:52])}
    # PIN items first: what is behind a PIN needs what the PIN opens. The list keeps the order of the rows.
    for r in sorted(self.item, key=lambda r: r[2] != 17):
      self.out["items"].append(self.open_item(r, material.pop(r[0], None), state.pop(r[0], None), blind.pop(r[0], set())))
    self.out["items"].sort(key=lambda i: i["row"])
    need(not material and not state and not blind and not self.formers, "damaged: rows of an item that does not exist")
    need(all(r[0] < n(self.head_row[24:32]) for r in self.item), "damaged: a row beyond the head row's next row")
  def open_state(self, row, item_id, stored, generation, layout):
    if stored is None: return None
    revision, body = stored
    plain = self.open2("state", self.aad("state", {2: item_id, 15: u(revision, 8)}), body, f"state of row {row}", 160)
    need(plain[0] == layout, f"newer format: state of row {row}", 15)
    g = n(body[2:6]); need(generation in (None, g), f"damaged: generation of the state of row {row}")
    self.terms.append((3, row, body[-16:], g)); return plain
  def open_item(self, r, material, state, blind):
    row, item_id, kind, primary, name, flags, cls, g, version, mv, expires, meta = r; what = f"item {item_id.hex()}"; need(row > 0, f"damaged: {what}, row")
    fields = {2: item_id, 4: u(g, 4), 5: u(version, 8), 6: u(cls, 1), 8: u(row, 8), 9: u(kind, 4), 10: u(flags, 4),
      11: None if expires is None else u(expires, 8, True), 12: primary, 13: name, 16: u(mv, 8)}
    need(n(meta[2:6]) == g, f"damaged: {what}, generation")
    m = decode(self.open2("meta", self.aad("meta", fields), meta, f"meta of {what}"), f"meta of {what}", f1=None, f2=None)
    attributes, policy = decode(m[1], f"attributes of {what}"), decode(m[2], f"policy of {what}", f1=1, f2=1, f3=4, f5=1, f6=1)
    need(all(attributes.values()), f"damaged: attributes of {what}"); values = {c: v[1:] for c, v in attributes.items()}
    need(policy[1][0] in (1, 2, 3) and policy[5][0] < 2 and not n(policy[3]) & ~0xC000C01B, f"newer format: policy of {what}", 15)
    need(policy[2][0] < 2 and policy[6][0] < 2, f"damaged: policy of {what}")
    need(cls == policy[1][0] + DEVICE_ONLY * policy[2][0], f"damaged: {what}, class is not the policy's"); closed = self.why_closed(kind, flags, policy, what)
    key = self.key("index", g); index = lambda c: mac(key, encode({1: u(c, 2), 2: values[c]}))[:16]
    self.terms += [(4, row, value, g) for value in blind]
    trashed = bool(flags & 32) and not flags & later_flags(kind)
    need(name == (index(1) if 1 in values and not trashed else None), f"damaged: {what}, name")
    need(blind == (set() if trashed else {index(c) for c in INDEXED & values.keys()}), f"damaged: {what}, blind index")
    missing = {17: bytes(8), 19: bytes(8), 13: b"\0"}; own = [1] if kind in (1, 2) and 1 in values else PRIMARY.get(kind, [1])
    codes = own + [12, 13, 0xFFF0, 0xFFF1]
    pk = encode({1: b"pk", 2: u(kind, 4), 3: encode({c: values.get(c, missing.get(c, b"")) for c in codes})})
    if trashed or kind == 16 and 1 not in values: pk = encode({1: b"pk", 2: u(kind, 4), 4: item_id})
    need(primary == mac(key, pk)[:16], f"damaged: {what}, primary key")
    need(bool(flags & 1) == (values.get(13) == b"\1") and bool(flags & 4) == (mv > 0) == (material is not None), f"damaged: {what}, flags")
    out = {"id": item_id.hex(), "row": row, "kind": kind, "kindName": KINDS.get(kind, "unknown"), "flags": flags, "version": version, "material": mv,
      "name": values[1].decode("utf-8", "replace") if 1 in values else None, "attributes": [show_attribute(c, v, what) for c, v in attributes.items()],
      "policy": {"accessibility": policy[1][0], "thisDeviceOnly": policy[2] == b"\1", "accessControl": n(policy[3]), "audit": policy[5][0],
        "exportable": policy[6] == b"\1", "recordBase64": b64(m[2])}, "unknownMetaFields": [k for k in m if k > 2]}
    if expires is not None: out["expires"] = expires
    if policy.get(11) == b"\1": out["policy"]["refusesExpired"] = True
    if trashed: out["trash"] = {"until": expires, "expires": n(values[98], True) if 98 in values else None}
    self.terms.append((1, row, meta[-16:], g)); plain = self.open_state(row, item_id, state, g, 1)
    need(plain or kind not in WITH_STATE, f"damaged: {what} has no state")
    if plain: out["state"] = {k: n(plain[a:b], k in SIGNED) for k, (a, b) in STATE.items()} | {"offset": plain[80:86].hex(), "pending": plain[86:92].hex(), "deadlineBoot": plain[128:144].hex()}
    if kind == 22 and len(s := attributes.get(92, b"")) == 26 and s[0] == 2: out["standing"] = {"state": s[1], "deadline": n(s[2:10]), "deadlineBoot": s[10:].hex()}
    if kind == 22: out |= {word: n(attributes[c][1:]) for c, word in ((93, "untold"), (94, "notShown")) if c in attributes and attributes[c][0] == 3}
    if 8 in policy and not closed: out["pin"] = {"mode": self.guard(policy)[0], "item": self.guard(policy)[1].hex()}
    if material:
      self.terms.append((2, row, material[0][-16:] + material[1][-16:], g)); bound = {2: item_id, 6: u(cls, 1), 7: H(m[2]), 9: u(kind, 4)}
      dek, why = (None, closed) if closed else self.data_key(material[0], cls, g, bound, what, policy)
      if dek is None: out["secretMissing"] = why
      else:
        aad = self.aad("secret", {2: item_id, 5: u(mv, 8), 7: bound[7], 9: bound[9]})
        secret = open1(dek, b"vault/1/seal-secret", aad, material[1], f"secret of {what}")
        if kind == 21: out["registration"] = show_registration(secret, f"data of {what}")
        if kind == 17: self.open_pin(item_id, secret, plain, what)
        if 8 in policy and self.guard(policy)[0] == 2: secret = self.unmask(policy, item_id, secret)
        if secret is None: out["secretMissing"] = "needs the PIN: it is masked"
        elif flags & 16: out["entry"] = show_login(secret, f"entry of {what}")
        else: out["secretBase64"] = b64(secret)
    else: out["secretMissing"] = "the item has no data"
    former = self.formers.pop(row, []); need(not former or kind in (1, 2) and 1 in values and len(former) <= 5, f"damaged: former secrets of {what}")
    for old in former: out.setdefault("former", []).append(self.open_former(row, item_id, kind, cls, g, mv, policy, m[2], old, what, closed))
    return out
  def open_former(self, row, item_id, kind, cls, g, material, policy, record, old, what, closed):
    version, meta, keys, secret = old; what = f"former secret {version} of {what}"; need(0 < version < material, f"damaged: {what}")
    self.terms.append((5, row, u(version, 8) + meta[-16:] + keys[-16:] + secret[-16:], g))
    need(n(meta[2:6]) == g, f"damaged: {what}, generation")
    known = decode(self.open2("meta", self.aad("former", {2: item_id, 5: u(version, 8)}), meta, what), what, f1=8, f2=4)
    out = {"version": version, "until": n(known[1], True)}; bound = {2: item_id, 6: u(cls, 1), 7: H(record), 9: u(kind, 4)}
    dek, why = (None, closed) if closed else self.data_key(keys, cls, g, bound, what, policy)
    if dek is None: return out | {"secretMissing": why}
    plain = open1(dek, b"vault/1/seal-secret", self.aad("secret", {2: item_id, 5: u(version, 8), 7: bound[7], 9: bound[9]}), secret, what)
    return out | ({"entry": show_login(plain, what)} if n(known[2]) & 16 else {"secretBase64": b64(plain)})

  # ---- section 6: what kind, flags and policy say before anything opens, and section 11
  def guard(self, policy): g = decode(policy[8], "policy field 8", f1=1, f2=16); return g[1][0], g[2]
  def why_closed(self, kind, flags, policy, what):
    """Why a program must not open the secret; None if it may."""
    if kind not in KINDS and kind not in PROGRAMS: return "a kind of a later version"
    if flags & later_flags(kind): return "a flag of a later version"
    what, later = f"policy of {what}", "a rule of a later version"
    if not policy.keys() <= {*range(1, 9), 11} or 7 in policy and kind not in (19, 20) or 8 in policy and kind not in (3, 16): return later
    if 11 in policy and (kind not in (1, 2) or policy[11] != b"\1"): return later
    bits = [n(decode(c, what, f1=4, f2=4)[1]) for c in items_of(policy.get(4, b""), what)]
    need(sorted(bits) == [b for b in (1, 2, 8, 0x10) if n(policy[3]) & b] and (bits or 4 not in policy), f"damaged: constraints of {what}")
    life, pin = decode(policy.get(7, b""), what), decode(policy[8], what, f1=1) if 8 in policy else {}
    if not life.keys() <= set(range(1, 7)) or not pin.keys() <= {1, 2} or pin and pin[1] not in (b"\1", b"\2"): return later
    if 7 in policy: decode(policy[7], what, f1=8, f2=8, f3=16, f4=8, f5=4); need(len(life.get(6, bytes(32))) == 32, f"damaged: {what}")
    if 8 in policy: decode(policy[8], what, f1=1, f2=16)
  def open_pin(self, item_id, secret, state, what):
    """Keeps what the PIN item gives to what is behind it: D, or the KDF record and the digits to add."""
    p = decode(secret, f"data of {what}", f1=1, f2=None); kdf_record(p[2], f"data of {what}")
    need(p[1] in (b"\1", b"\2") and (3 in p) == (p[1] == b"\1"), f"damaged: data of {what}"); self.modes[item_id] = p[1][0]
    if self.pin is None: return
    need(p[1] == b"\1" or max(state[80:92]) <= 9, f"damaged: state of {what}")
    if p[1] == b"\2": self.pins[item_id] = p[2], state[86:92] if state[1] & 8 else state[80:86]; return
    key = hkdf(argon(self.pin, p[2], f"data of {what}", self.cheap), b"vault/1/pin"); wrong = Failure("")
    try: self.pins[item_id] = open1(key, b"vault/1/seal-pin", self.aad("pin", {2: item_id}), p[3], what, wrong)
    except Failure as failure:
      if failure is not wrong: raise
  def unmask(self, policy, item_id, masked):
    if self.guard(policy)[1] not in self.pins: return None
    kdf, offset = self.pins[self.guard(policy)[1]]
    digits = bytes(48 + (d - 48 + o) % 10 for d, o in zip(self.pin.ljust(6, b"0"), offset))
    mask = hkdf(argon(digits, kdf, "camouflage", self.cheap), b"vault/1/camouflage" + self.id + item_id, len(masked))
    return bytes(a ^ b for a, b in zip(masked, mask))

  # ---- section 10
  def data_key(self, keys, cls, g, bound, what, policy):
    if (cls, g) not in self.ck: return None, "this-device-only: needs the device key" if cls & DEVICE_ONLY and not self.lk else "locked: needs the passcode"
    plain = open1(self.ck[cls, g], b"vault/1/seal-keys", self.aad("keys", {**bound, 4: u(g, 4)}), keys, f"keys of {what}")
    mode, pin_id = self.guard(policy) if 8 in policy else (None, None)
    need(mode in (None, self.modes.get(pin_id, mode)), f"damaged: the policy of {what} names another mode than its PIN item")
    further = (n(policy[3]) >> 31) | 2 * (mode == 1) | 4 * (7 in policy and 6 in decode(policy[7], what)); reasons = []
    need(plain[:1] == (b"\1" if further or 4 in policy else b"\0"), f"damaged: form of the keys of {what}")
    if plain[:1] == b"\0": need(len(plain) == 33, f"damaged: keys of {what}"); return plain[1:], None
    alternatives = items_of(plain[1:], f"alternatives of {what}"); need(1 <= len(alternatives) <= 2, f"damaged: alternatives of {what}")
    for alternative in alternatives:
      a = decode(alternative, f"alternative of {what}", f1=None, f2=32, f4=None, f5=1)
      numbers, extra = [n(a[1][i:i + 4]) for i in range(0, len(a[1]), 4)], a[5][0]
      need(numbers == sorted(set(numbers)) and len(numbers) * 4 == len(a[1]) and (numbers or extra), f"damaged: factors of {what}")
      need((3 in a) == bool(extra & 1) and (numbers or not any(a[2])), f"damaged: alternative of {what}")
      need(extra == further, f"damaged: further secrets of {what} are not the policy's")
      lacks = [f"factor {f:#010x}" + (", which is gone" if f not in self.factors else "") for f in numbers if f not in self.private]
      typed = extra & 1 and self.application_password; given = {1: typed, 2: self.pins.get(pin_id), 4: self.session}
      lacks += [secret for bit, secret in EXTRA.items() if extra & bit and not given[bit]]
      if lacks: reasons.append(" and ".join(lacks)); continue
      info = H(encode({1: bound[2], 2: bound[7], 3: a[1], 4: a[2], 5: b"".join(self.factors[f] for f in numbers), 6: a[5]}))
      shared = b"".join(exchange(self.private[f], a[2]) for f in numbers)
      after = (given[2] if extra & 2 else b"") + (self.session if extra & 4 else b"")
      other = Failure("", 3) if typed or extra & 4 else None  # each item may have a separate application password or session
      def opened(form):
        key = shared + (argon(form, a[3], f"application password of {what}", self.cheap) if form else b"") + after
        return open1(hkdf(key, b"vault/1/alternative" + info), b"vault/1/seal-alternative", self.aad("alternative", bound), a[4], f"alternative of {what}", other)
      try: dek = first_right(typed or None, opened)
      except Failure as failure:
        if failure is not other: raise
        reasons.append("another application password" if typed else "another session"); continue
      need(len(dek) == 32, f"damaged: alternative of {what}"); return dek, None
    return None, "needs " + ", or ".join(reasons)

  # ---- section 9
  def open_audit(self):
    b = self.head_row; following, current, first, kept = n(b[88:96]), n(b[96:104]), n(b[104:112]), max(1, n(b[96:104]) - 63)
    need(1 <= len(self.segment) <= 64, "damaged: no audit segment, or too many"); oldest, begun = self.segment[0][:2]
    # A restored vault begins with the empty segment of the backup: leaving out an older segment is detected.
    bare = begun == (self.segment[1][1] if len(self.segment) > 1 else following)
    need([s[0] for s in self.segment] == list(range(oldest, oldest + len(self.segment))) and self.segment[-1][0] == current
      and (oldest > 1 and (18 in self.h) == (len(self.segment) == 1) if bare else oldest == kept and 18 not in self.h),
      "damaged: audit segments are missing or too many")
    sequences = range(begun, following)   # compare the length first: the head row could demand a list that takes all memory
    need(len(self.audit) == following - sequences.start and self.segment[-1][1] == first
      and all(e[0] == sequence for e, sequence in zip(self.audit, sequences)), "damaged: audit entries are missing or too many")
    roots = self.roots; start = max((f for f in roots if f <= oldest), default=None)
    need(start is not None, f"damaged: no audit root for segment {oldest}")
    opened = roots == set(self.audit_root); chain = self.audit_root.get(start, b"")   # all roots, or none without the passcode
    for _ in range(start, oldest) if opened else (): chain = mac(chain, b"vault/1/audit-chain")
    rows, last, ka = {e[0]: e for e in self.audit}, bytes(32) if oldest == 1 else self.segment[0][2], None
    for number, begin, previous, empty in self.segment:
      end = following if number == current else self.segment[number + 1 - oldest][1]
      # Only a new root ends a segment early; otherwise, with the head row's C, an attacker could cut off the last entries and go on.
      whole = end - begin == 4096 or number == current or number + 1 in roots or bare and number == oldest
      need(previous == last and empty == b"" and whole and (begin < end or bare and number == oldest) and end - begin <= 4096,
        f"damaged: audit segment {number} does not follow the one before, or is not whole")
      ka, last = mac(chain, b"vault/1/audit-segment"), H(b"vault/1/audit-anchor" + u(number, 8) + u(begin, 8) + previous)
      for sequence in range(begin, end):
        _, body, tag = rows[sequence]; plain = self.open2("audit", self.aad("audit", {17: u(sequence, 8)}), body, f"audit entry {sequence}")
        need(not opened or hmac.compare_digest(mac(ka, last + u(sequence, 8) + H(plain)), tag), f"damaged: audit entry {sequence}, MAC")
        last, ka = tag, mac(ka, b"vault/1/audit-next")
        self.out.setdefault("audit", []).append({"sequence": sequence} | show_entry(decode(plain, f"audit entry {sequence}")))
      chain = self.audit_root.get(number + 1) or mac(chain, b"vault/1/audit-chain")
    need(not bare or 18 in self.h or self.out["audit"][0]["operation"] == 21, "damaged: audit segments are missing")
    need(last == b[144:176] and (not opened or ka + chain == b[112:144] + b[200:232]), "damaged: the audit chain does not end where the head row says")
    self.out["auditVerified"] = opened

def show_attribute(code, value, what):
  tag, v = value[0], value[1:]; names = {1: "string", 2: "bytes", 3: "integer", 4: "boolean", 5: "date"}
  need(tag in names and len(v) == {3: 8, 4: 1, 5: 8}.get(tag, len(v)), f"damaged: attribute {code} of {what}")
  try: shown = v.decode() if tag == 1 else n(v, True) if tag in (3, 5) else v == b"\1" if tag == 4 else b64(v)
  except UnicodeDecodeError: raise Failure(f"damaged: attribute {code} of {what} is not UTF-8")
  return {"code": code, "attribute": ATTRIBUTES.get(code, "unknown"), "type": names[tag], "value": shown}
def later_flags(kind):
  """The flags that no item of this kind has in this version: an entry is a password, and only passwords and codes go into the trash."""
  return (0 if kind in (1, 2) else 16) | (0 if kind in (1, 2, 16) else 32)
def show_login(data, what):
  fields = decode(data, what); shown, names = [], set()
  for entry in items_of(fields.get(3, b""), f"fields of {what}"):
    f = decode(entry, f"a field of {what}", f1=None, f2=None); need(f[1] and f.get(3, b"\1") == b"\1", f"damaged: a field of {what}")
    need(f[1] not in names, f"damaged: two fields of {what} have one name"); names.add(f[1])
    shown.append({"name": f[1].decode("utf-8", "replace"), "valueBase64": b64(f[2]), "hidden": 3 in f})
  out = {word: b64(fields[k]) for k, word in ((1, "passwordBase64"), (2, "notesBase64")) if k in fields}
  return out | {"fields": shown, "addresses": [a.decode("utf-8", "replace") for a in items_of(fields.get(4, b""), f"addresses of {what}")]}
def show_registration(data, what):
  fields = decode(data, what, f1=None, f2=None, f3=None, f4=1, f11=None); numbers = (4, 8, 12)
  try: return {word: n(fields[k], k == 8) if k in numbers else fields[k].hex() if k == 9 else fields[k].decode() for k, word in REGISTRATION.items() if k in fields}
  except UnicodeDecodeError: raise Failure(f"damaged: {what} is not UTF-8")
def show_entry(fields):
  out = {name: n(fields[k], k == 1) for k, name in ENTRY.items() if k in fields}
  if 12 in fields: out["outcome"] = OUTCOMES.get(out["outcome"], str(out["outcome"]))
  out |= {name: fields[k].hex() for k, name in {3: "bootId", 8: "item"}.items() if k in fields}
  return out | {name: fields[k].decode("utf-8", "replace") for k, name in {6: "executable", 11: "detail", 15: "callerExecutable"}.items() if k in fields}

def read_fd(fd):
  if fd is None: return None
  with os.fdopen(fd, "rb") as f: data = f.read()
  data = data.removeprefix(b"\xef\xbb\xbf")
  for end in (b"\r\n", b"\n", b"\r"):
    if data.endswith(end): return data[:-len(end)]
  return data
def main():
  p = argparse.ArgumentParser(description="Open a vault file, format 1, check all of it, list its items.")
  p.add_argument("vault"); p.add_argument("--device-key", metavar="FILE", help="32 raw bytes")
  for name in ("passcode", "recovery", "passphrase", "phrase", "application-password", "pin", "session"): p.add_argument(f"--{name}-fd", type=int, metavar="N")
  p.add_argument("--json", action="store_true", help="one object, secrets included"); p.add_argument("--secrets", action="store_true")
  o = p.parse_args()
  try:
    key = open(o.device_key, "rb").read(33) if o.device_key else None
    out = Vault(o.vault, key, *map(read_fd, (o.passcode_fd, o.recovery_fd, o.passphrase_fd, o.phrase_fd, o.application_password_fd, o.pin_fd, o.session_fd))).out
  except Failure as e: print(f"open_vault: {e}", file=sys.stderr); return e.code
  except sqlite3.Error as e: print(f"open_vault: damaged: {e}", file=sys.stderr); return 10
  except OSError as e: print(f"open_vault: {e}", file=sys.stderr); return 13
  if o.json: json.dump(out, sys.stdout, ensure_ascii=False); print(); return 0
  printable = lambda s: "".join(c if c.isprintable() else "\ufffd" for c in s)
  print(f"vault {out['vaultId']}, config {out['config']}, generation {out['generation']}, {len(out['items'])} items, {len(out.get('audit', []))} audit entries"
    f" ({'MACs verified' if out['auditVerified'] else 'MACs not verified: needs the passcode'}){', a copy' if out['copied'] else ''}")
  def shown(found):
    """What is said of a secret: why it is missing, or with --secrets what it is; an entry as JSON, in ASCII."""
    if "secretMissing" in found: return f"({found['secretMissing']})"
    return "secret opens" if not o.secrets else json.dumps(found["entry"]) if "entry" in found else found["secretBase64"]
  for i in out["items"]:
    end = f"  in the trash until {i['trash']['until']}" if "trash" in i else ""
    print(f"{i['id']}  {i['kindName']:<18} {printable(i['name'] or '-'):<24} {shown(i)}{end}")
    for old in i.get("former", []): print(f"{'':32}  former {old['version']}, until {old['until']}: {shown(old)}")
  return 0
if __name__ == "__main__": sys.exit(main())
