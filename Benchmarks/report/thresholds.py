"""Compares allocations and system calls per operation with Benchmarks/Thresholds. Counts, unlike times, are the same on a busy
machine."""
import collections
import json
import os
import re
import shutil
import subprocess
import tempfile


def counted_allocations(bench, folder):
    done = subprocess.run([bench, "--counts", "--folder", folder, "--sizes", "1000"], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise SystemExit("bench: vault-bench --counts failed:\n" + done.stderr[-2000:])
    found = {}
    for line in done.stdout.splitlines():
        race = json.loads(line)
        for reading in race["readings"]:
            if reading["name"].startswith("vault"):
                found[f"{race['id']} / {reading['name']}"] = reading["allocations"]
    return found


# One library more than without a PIN: a thread of libargon2 ends with pthread_exit, for which the C library loads libgcc_s.
BEHIND_PIN = "vaultctl code (HOTP, behind a PIN)"
OPERATIONS = ("hotp", "hotp-checked", "hotp-camouflaged", "put", "get", "get-in-snapshot", "list", "transaction-accept", "transaction-list",
              "unlock")


def counted_calls(bench, vaultctl, folder):
    """System calls of one operation, and of a whole command; None if strace is absent."""
    if not shutil.which("strace"):
        return None
    found = {}
    for operation in OPERATIONS:
        log = f"{folder}/{operation}.strace"
        count = 10
        done = subprocess.run(["strace", "-f", "-qq", "-o", log, bench, "--folder", folder, "trace", operation, str(count)],
                              capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise SystemExit(f"bench: tracing {operation} failed:\n" + done.stderr[-2000:])
        found[operation] = {name: n / count for name, n in between_marks(log).items()}
    pin = f"{folder}/pin"
    with open(os.open(pin, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("8306")
    for name, words in (("vaultctl get", ["get", "item-7"]), ("vaultctl code (HOTP)", ["code", "hotp"]),
                        (BEHIND_PIN, ["code", "checked-0", "--pin-file", pin]),
                        ("vaultctl transaction list", ["transaction", "list"])):
        log = f"{folder}/tool.strace"
        words = [vaultctl, *words, "--vault", f"{folder}/trace/data/bench.vault", "--device-key", f"{folder}/trace/device.key"]
        done = subprocess.run(["strace", "-f", "-qq", "-o", log, *words], capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise SystemExit(f"bench: {name} failed: " + done.stderr[-500:])
        calls = collections.Counter(call for call in map(call_of, open(log)) if call)
        found[name] = {"total": float(sum(calls.values())), **{n: float(calls[n]) for n in ("fdatasync", "fsync", "clone3", "execve")}}
        libraries = (re.search(r'openat\(.*"([^"]*\.so[.\d]*)".*= \d', line) for line in open(log))
        found[name]["libraries"] = float(len({match[1] for match in libraries if match}))
    # The threads of a derivation make a varying number of calls.
    found[BEHIND_PIN] = {name: n for name, n in found[BEHIND_PIN].items() if name not in ("total", "clone3")}
    return found


def call_of(line):
    match = re.match(r"(?:\d+ +)?(\w+)\(", line)
    return match[1] if match else None


def between_marks(log):
    calls, inside = collections.Counter(), False
    for line in open(log):
        name = call_of(line)
        if name == "getpgid":
            inside = not inside
        elif name and inside:
            calls[name] += 1
    kept = {name: calls[name] for name in ("fdatasync", "fsync", "pwrite64", "write", "openat", "getrandom")}
    # Threads that wait for each other, and the memory of a derivation, make a varying number of calls.
    aside = sum(calls[name] for name in ("futex", "madvise", "mmap", "munmap", "mprotect", "clone3", "set_robust_list", "rseq",
                                         "rt_sigprocmask", "exit", "sched_yield"))
    return {"total": sum(calls.values()) - aside, **kept}


def limit_of(operation, name, value):
    """Room above the count: for a whole command, what the loader and the system add on other machines."""
    if operation.startswith("vaultctl"):
        return round(value * 1.15 + 10) if name == "total" else round(value + 0.2, 1)
    # The number of pages that a new row changes depends on its random place.
    return round(value * 1.35 + 2, 1) if name in ("total", "pwrite64") else round(value + 0.2, 1)


def check(bench, vaultctl, root, is_updating, note):
    folder = tempfile.mkdtemp(prefix="vault-thresholds-")
    try:
        places = root / "Benchmarks" / "Thresholds"
        failures = []
        allocations = counted_allocations(bench, folder)
        if is_updating:
            limits = {k: round(v + max(1, 0.1 * v), 1) if v > 0.05 else 0.1 for k, v in sorted(allocations.items())}
            (places / "allocations.json").write_text(json.dumps(limits, indent=1) + "\n")
        limits = json.loads((places / "allocations.json").read_text())
        for name, limit in limits.items():
            if name not in allocations:
                note(f"  {name}: not counted, this processor or library is not here")
            elif allocations[name] > limit:
                failures.append(f"{name}: {allocations[name]:.2f} allocations, at most {limit}")
        for name in sorted(set(allocations) - set(limits)):
            failures.append(f"{name}: {allocations[name]:.2f} allocations, and no threshold")
        calls = counted_calls(bench, vaultctl, folder)
        if calls is None:
            note("  system calls: not counted, strace is not installed")
        else:
            if is_updating:
                limits = {op: {n: limit_of(op, n, v) for n, v in counts.items()} for op, counts in calls.items()}
                (places / "system-calls.json").write_text(json.dumps(limits, indent=1) + "\n")
            limits = json.loads((places / "system-calls.json").read_text())
            for operation, most in limits.items():
                for name, limit in most.items():
                    if calls[operation].get(name, 0) > limit:
                        failures.append(f"{operation}: {calls[operation][name]} × {name}, at most {limit}")
        note(f"thresholds: {len(allocations)} counts of allocations, {sum(map(len, calls.values())) if calls else 0} of system calls, "
             f"{len(failures)} over their limit")
        for failure in failures:
            note("  " + failure)
        return not failures
    finally:
        shutil.rmtree(folder, ignore_errors=True)
