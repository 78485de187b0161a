#!/usr/bin/python3
"""Opens a vault with docs/format/open_vault.py and compares what is found with an expectation file.

    cross_check.py VAULT KEY [--passcode-fd N] --expect FILE.json

The file holds one object. Every member of it is compared with the member of the same name of `open_vault.py --json`;
what it does not name is not looked at. Two members are special:

    "items"  a list of objects; each must match exactly one item (every member equal), and no item may be left over.
             "attributes" in it is an object from attribute name to value, a subset of the item's own.
             "secret" is the secret as text, "secretBase64" as bytes; null says that it does not open.
    "audit"  a list of operation numbers, or of objects; compared in order, entry by entry.

Exit 0 when all agrees; 1 with one line for each disagreement; else the reader's own exit code.
"""
import argparse
import base64
import importlib.util
import json
import os
import sys

sys.dont_write_bytecode = True
READER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "format", "open_vault.py")
spec = importlib.util.spec_from_file_location("open_vault", READER)
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)


def differences(expected, found):
    """The names of the members in which an item or entry differs."""
    expected = dict(expected)
    if "secret" in expected:
        text = expected.pop("secret")
        expected["secretBase64"] = None if text is None else base64.b64encode(text.encode()).decode()
    if "attributes" in expected:
        own = {a["attribute"]: a["value"] for a in found["attributes"]}
        found = {**found, "attributes": {name: own.get(name) for name in expected["attributes"]}}
    return [name for name, value in expected.items() if found.get(name) != value]


def compare_items(expected, found):
    left, complaints = list(found), []
    for wanted in expected:
        matching = [item for item in left if not differences(wanted, item)]
        if matching:
            left.remove(matching[0])
            continue
        shown = wanted.get("name") or json.dumps(wanted)[:60]
        near = min(left, key=lambda item: len(differences(wanted, item)), default=None)
        why = "nothing is left" if near is None else f"nearest {near['id']} differs in {', '.join(differences(wanted, near))}"
        complaints.append(f"item {shown}: not found; {why}")
    return complaints + [f"item {item['id']} ({item['name']}): not expected" for item in left]


def compare_audit(expected, found):
    if len(expected) != len(found):
        return [f"audit: {len(found)} entries {[e.get('operation') for e in found]}, expected {len(expected)}"]
    pairs = [({"operation": e} if isinstance(e, int) else e, f) for e, f in zip(expected, found)]
    return [f"audit entry {f['sequence']}: differs in {', '.join(differences(e, f))}" for e, f in pairs if differences(e, f)]


def compare(expected, found):
    complaints = []
    for name, value in expected.items():
        if name == "items":
            complaints += compare_items(value, found["items"])
        elif name == "audit":
            complaints += compare_audit(value, found.get("audit", []))
        elif found.get(name) != value:
            complaints.append(f"{name}: found {found.get(name)!r}, expected {value!r}")
    return complaints


def main():
    parser = argparse.ArgumentParser(description="Compare a vault with an expectation file.")
    parser.add_argument("vault")
    parser.add_argument("key", help="the device key, 32 raw bytes")
    parser.add_argument("--passcode-fd", type=int, metavar="N")
    parser.add_argument("--expect", required=True, metavar="FILE.json")
    options = parser.parse_args()
    with open(options.expect, encoding="utf-8") as f:
        expected = json.load(f)
    with open(options.key, "rb") as f:
        key = f.read(33)
    try:
        found = reader.Vault(options.vault, key, reader.read_fd(options.passcode_fd)).out
    except reader.Failure as failure:
        print(f"cross_check: {failure}", file=sys.stderr)
        return failure.code
    complaints = compare(expected, found)
    for complaint in complaints:
        print(f"cross_check: {complaint}")
    if not complaints:
        print(f"cross_check: {len(found['items'])} items and {len(found.get('audit', []))} audit entries agree")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
