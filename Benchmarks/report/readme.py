"""The figures of the README, made from the tables of docs/benchmarks/README.md.

    python3 Benchmarks/report/readme.py            writes them
    python3 Benchmarks/report/readme.py --check    writes nothing; exit 1 if the README has others

A look-up that derives a key from a passcode and one that derives none stand side by side, each beside the peers that do the same.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
# Each row, with the names that the results give to the look-up without and with the derivation of a key.
ROWS = [
    ("`vaultctl get`", "vaultctl", "vaultctl, with passcode"),
    ("`secret-tool`", "secret-tool (GNOME Keyring)", None),
    ("`keepassxc-cli`", None, "keepassxc-cli"),
]


def look_ups(page):
    """The least time of each program for a look-up among 1,000 entries."""
    table = re.search(r"\*\*Look up one\*\*.*?\n\n\|  \| 1,000 items \|.*?\n\|[-|]+\|\n(.*?)\n\n", page, re.S)
    if not table:
        sys.exit("readme.py: docs/benchmarks/README.md has no table of look-ups among 1,000 items")
    found = {}
    for line in table[1].split("\n"):
        name, first = [cell.strip() for cell in line.strip("|").split("|")][:2]
        if least := re.search(r"\(([\d.,]+ [nµm]?s), ", first):
            found[name] = least[1]
    return found


def figures(page):
    found = look_ups(page)
    lines = ["| one look-up among 1,000, least time | no key is derived | a passcode makes the key |", "|---|---|---|"]
    for row, *names in ROWS:
        cells = [found.get(name) for name in names]
        if any(cells):
            lines.append("| " + " | ".join([row] + [cell or "–" for cell in cells]) + " |")
    return "\n".join(lines)


def write(readme, page, is_check=False):
    """Whether the figures of the README were those of the page."""
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    new = before + BEGIN + "\n\n" + figures(page.read_text(encoding="utf-8")) + "\n\n" + END + rest.split(END)[1]
    if not is_check:
        readme.write_text(new, encoding="utf-8")
    return new == text


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    is_check = bool(sys.argv[1:])
    if not write(ROOT / "README.md", ROOT / "docs/benchmarks/README.md", is_check) and is_check:
        sys.exit("readme.py: the figures of the README are not those of docs/benchmarks/README.md: Benchmarks/report/readme.py writes them")


if __name__ == "__main__":
    main()
