#!/usr/bin/python3
"""OCRA a second time, written from RFC 6287 alone: what the library computes is compared with it.

    ocra.py cases SEED COUNT    random suites with random values and their codes, a JSON object per line
    ocra.py judge               for each line of the input, the hexadecimal digits of a text: 1 if it is a suite, else 0
"""
import hashlib
import hmac
import json
import random
import re
import string
import sys

HASHES = {"SHA1": hashlib.sha1, "SHA256": hashlib.sha256, "SHA512": hashlib.sha512}
HASH = "SHA1|SHA256|SHA512"
# Section 6. RFC 6287 writes the length of a challenge with two digits in 6.3, and as H8 in an example of 6.4.
# Q, P, S and T alone have the defaults of 6.3: N08, SHA1, 064, 1M.
SUITE = re.compile(
    rf"OCRA-1:HOTP-(?P<hash>{HASH})-(?P<digits>0|[4-9]|10):(?P<counter>C-)?"
    rf"Q(?:(?P<format>[ANH])(?P<length>0?[4-9]|[1-5][0-9]|6[0-4]))?(?:-P(?P<pin>{HASH}|))?"
    r"(?:-S(?P<session>00[1-9]|0[1-9][0-9]|[1-4][0-9][0-9]|50[0-9]|51[0-2]|))?"
    r"(?:-T(?P<step>(?:[1-9]|[1-5][0-9])[SM]|(?:[0-9]|[1-3][0-9]|4[0-8])H|))?", re.ASCII)
DEFAULTS = {"pin": "SHA1", "session": "064", "step": "1M"}
ALPHABETS = {"A": string.ascii_letters + string.digits, "N": string.digits, "H": string.hexdigits}
UNITS = {"S": 1, "M": 60, "H": 3600}


def parts_of(suite):
    """The parts of a suite, with the defaults in their places; None for a text that is no suite."""
    match = SUITE.fullmatch(suite)
    if match is None:
        return None
    parts = match.groupdict()
    for name, default in DEFAULTS.items():
        if parts[name] == "":
            parts[name] = default
    if parts["format"] is None:
        parts["format"], parts["length"] = "N", "08"
    return parts


def question_bytes(letter, text):
    """128 bytes (5.1): ASCII, or the number in hexadecimal digits, or the digits; zeros follow."""
    if letter == "A":
        return text.encode("ascii").ljust(128, b"\0")
    digits = f"{int(text):x}" if letter == "N" else text
    return bytes.fromhex(digits.ljust(256, "0"))


def message(suite, case):
    """DataInput = OCRASuite | 00 | C | Q | P | S | T (5.1)."""
    parts = parts_of(suite)
    result = suite.encode("ascii") + b"\0"
    if parts["counter"]:
        result += int(case["counter"]).to_bytes(8, "big")
    result += question_bytes(parts["format"], "".join(case["challenges"]))
    if parts["pin"]:
        result += HASHES[parts["pin"]](bytes.fromhex(case["pin"])).digest()
    if parts["session"]:
        result += bytes.fromhex(case["session"]).rjust(int(parts["session"]), b"\0")
    if parts["step"]:
        result += case["timeStep"].to_bytes(8, "big")
    return result


def code(suite, key, data):
    """HOTP-H-t (5.2, RFC 4226 5.3): t digits of 31 bits, or the whole HMAC if t is 0."""
    parts = parts_of(suite)
    digest = hmac.new(key, data, HASHES[parts["hash"]]).digest()
    digits = int(parts["digits"])
    if digits == 0:
        return digest.hex()
    offset = digest[-1] % 16
    number = int.from_bytes(digest[offset:offset + 4], "big") % 2 ** 31
    return f"{number % 10 ** digits:0{digits}}"


def random_suite(source):
    length = source.randint(4, 64)
    data = ["C"] if source.random() < 0.5 else []
    short = length < 10 and source.random() < 0.5
    question = source.choice("ANH") + (str(length) if short else f"{length:02}")
    data.append("Q" + source.choice([question, question, question, ""]))
    if source.random() < 0.5:
        data.append("P" + source.choice([*HASHES, ""]))
    if source.random() < 0.5:
        data.append("S" + source.choice([*(f"{n:03}" for n in [1, 64, 128, 256, 512, source.randint(1, 512)]), ""]))
    if source.random() < 0.5:
        data.append("T" + source.choice([f"{source.randint(1, 59)}S", f"{source.randint(1, 59)}M", f"{source.randint(0, 48)}H", ""]))
    digits = source.choice([0, 4, 5, 6, 7, 8, 9, 10])
    return f"OCRA-1:HOTP-{source.choice(list(HASHES))}-{digits}:{'-'.join(data)}"


def random_case(source):
    suite = random_suite(source)
    parts = parts_of(suite)
    case = {"suite": suite, "key": source.randbytes(source.choice([1, 16, 20, 32, 64, 65, 129, 200])).hex()}
    if parts["counter"]:
        case["counter"] = str(source.choice([0, 1, 2 ** 63, 2 ** 64 - 1, source.getrandbits(64)]))
    length = int(parts["length"])
    count = source.choice([1, 1, 1, 2])
    while True:
        case["challenges"] = [
            "".join(source.choices(ALPHABETS[parts["format"]], k=source.choice([length, source.randint(1, length)])))
            for _ in range(count)]
        # Of two challenges, the questions of the two parties must differ.
        joined = [question_bytes(parts["format"], "".join(order)) for order in (case["challenges"], case["challenges"][::-1])]
        if count == 1 or joined[0] != joined[1]:
            break
    if parts["pin"]:
        case["pin"] = source.randbytes(source.randint(1, 80)).hex()
    if parts["session"]:
        case["session"] = source.randbytes(source.randint(0, int(parts["session"]))).hex()
    if parts["step"]:
        period = int(parts["step"][:-1]) * UNITS[parts["step"][-1]]
        case["unixTime"] = source.choice([0, source.getrandbits(32), 2 ** 63 - 1])
        # The RFC allows steps of 0 hours, and does not say what they count.
        case["timeStep"] = case["unixTime"] // period if period else source.getrandbits(60)
        case["period"] = period
    case["code"] = code(suite, bytes.fromhex(case["key"]), message(suite, case))
    return case


def main():
    if sys.argv[1] == "cases":
        source = random.Random(int(sys.argv[2]))
        for _ in range(int(sys.argv[3])):
            print(json.dumps(random_case(source)))
    else:
        for line in sys.stdin:
            print(1 if SUITE.fullmatch(bytes.fromhex(line).decode("utf-8")) else 0)


if __name__ == "__main__":
    main()
