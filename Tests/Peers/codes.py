"""Judges one-time codes as a server does: HOTP with a window, TOTP with one step to each side, OCRA by its suite.

A credential is a dictionary with the members of the guide (`type`, `algorithm`, `digits`, `periodSeconds`, `suite`,
`counter`), `secretHex`, and `lastStep`, the last accepted step of time. An accepted code moves the counter or the
step, so no code is accepted twice.
"""
import hashlib
import hmac
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "OCRAReference"))
import ocra

WINDOW = 10
LAST_COUNTER = 2 ** 64 - 1


class UnsuitableData(Exception):
    """Data that the suite cannot sign, or a suite that a server without PIN and session cannot judge."""


def hotp(credential, counter):
    """RFC 4226 section 5.3."""
    digest = hmac.new(bytes.fromhex(credential["secretHex"]), counter.to_bytes(8, "big"),
                      ocra.HASHES[credential["algorithm"]]).digest()
    offset = digest[-1] % 16
    number = int.from_bytes(digest[offset:offset + 4], "big") % 2 ** 31
    return f"{number % 10 ** credential['digits']:0{credential['digits']}}"


def question_of_data(suite, data):
    """The rule of `transaction sign` (docs/guides/ocra.md): nothing is cut off, filled up or trimmed."""
    parts = ocra.parts_of(suite)
    letter, length = parts["format"], int(parts["length"])
    if (letter, length) == ("H", 64):
        return hashlib.sha256(data).hexdigest()
    allowed = {"N": rb"[0-9]{%d}" % length, "H": rb"[0-9a-f]{%d}" % length, "A": rb"[0-9A-Za-z]{1,%d}" % length}
    if not re.fullmatch(allowed[letter], data):
        raise UnsuitableData(f"{suite} cannot sign this data")
    return data.decode("ascii")


def check_suite(suite):
    parts = ocra.parts_of(suite)
    if parts is None or parts["pin"] or parts["session"] or (parts["step"] or "")[:-1] == "0":
        raise UnsuitableData(f"this peer cannot judge {suite}")


def has_counter(credential):
    if credential["type"] == "ocra":
        return ocra.parts_of(credential["suite"])["counter"] is not None
    return credential["type"] == "hotp"


def step_seconds(credential):
    if credential["type"] == "totp":
        return credential["periodSeconds"]
    step = credential["type"] == "ocra" and ocra.parts_of(credential["suite"])["step"]
    return int(step[:-1]) * ocra.UNITS[step[-1]] if step else None


def code_at(credential, counter, step, question):
    if credential["type"] == "hotp":
        return hotp(credential, counter)
    if credential["type"] == "totp":
        return hotp(credential, step)
    suite = credential["suite"]
    values = {"counter": counter, "challenges": [question], "timeStep": step}
    return ocra.code(suite, bytes.fromhex(credential["secretHex"]), ocra.message(suite, values))


def moments(credential, now, start, count, spread):
    """Each counter of the window with each step of time around now, the nearest first.
    What the credential lacks is None."""
    counters, steps = [None], [None]
    if has_counter(credential):
        counters = range(start, min(start + count, LAST_COUNTER + 1))
    seconds = step_seconds(credential)
    if seconds:
        current = int(now) // seconds
        steps = sorted(range(max(current - spread, 0), current + spread + 1), key=lambda step: abs(step - current))
        if not has_counter(credential):
            steps = [step for step in steps if step > credential["lastStep"]]
    return [(counter, step) for counter in counters for step in steps]


def accept(credential, code, now, question=None, start=None, count=WINDOW + 1, spread=1):
    """Whether the code is right. A right one moves the credential: it is not accepted again."""
    if credential["type"] == "ocra" and question is None:
        raise UnsuitableData("a code of a suite needs a question")
    start = credential["counter"] if start is None else start
    for counter, step in moments(credential, now, start, count, spread):
        if hmac.compare_digest(code_at(credential, counter, step, question).encode(), code.encode()):
            if counter is not None:
                credential["counter"] = counter + 1
            if step is not None:
                credential["lastStep"] = step
            return True
    return False
