"""Looks into the memory of a program at its end: run by gdb, `gdb -batch -x memory.py --args PROGRAM WORDS`.

The environment of gdb names the files: REQUEST is the program's standard input, ANSWER its output, and each line of PATTERNS is
looked for. Prints `found N M` for each: in the whole memory, and outside of the stack, where parts of registers are.
"""
import os

import gdb

gdb.execute("set confirm off")
gdb.execute("set debuginfod enabled off")
gdb.execute("catch syscall exit_group")
with open(os.environ["PATTERNS"], "rb") as file:
    patterns = file.read().splitlines()
request, answer = os.environ["REQUEST"], os.environ["ANSWER"]
for name in "PATTERNS", "REQUEST", "ANSWER":
    gdb.execute(f"unset environment {name}")
# The words of --args are lost where `run` has its own.
words = gdb.execute("show args", to_string=True).partition('is "')[2].rpartition('"')[0]
gdb.execute(f"run {words} < {request} > {answer}", to_string=True)
inferior = gdb.selected_inferior()


with open(f"/proc/{inferior.pid}/maps") as file:
    maps = [line.split() for line in file]
counts = [[0, 0] for _ in patterns]
with open(f"/proc/{inferior.pid}/mem", "rb", buffering=0) as memory:
    for fields in maps:
        # What is larger than that is reserved, and empty.
        start, end = (int(part, 16) for part in fields[0].split("-"))
        if not fields[1].startswith("rw") or end - start > 1 << 28:
            continue
        try:
            memory.seek(start)
            data = memory.read(end - start)
        except OSError:
            continue
        for pattern, found in zip(patterns, counts):
            found[0] += data.count(pattern)
            found[1] += 0 if fields[-1] == "[stack]" else data.count(pattern)
for everywhere, outside in counts:
    print(f"found {everywhere} {outside}")
