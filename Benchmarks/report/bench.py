"""scripts/bench: builds, runs, compares, writes docs/benchmarks."""
import argparse
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "benchmarks"
SCRATCH = ROOT / ".build" / "bench"
RESULTS = SCRATCH / "results.json"
SUBJECTS = ["otp", "seal", "kdf", "signatures", "store", "pin", "transactions", "start", "agent", "tool", "growth"]
IN_PROCESS = {"otp", "seal", "kdf", "signatures", "store", "pin", "transactions"}


def note(line=""):
    print(line, file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Speed, beside what a user would pick instead.")
    parser.add_argument("--only", help=f"subjects, by comma: {', '.join(SUBJECTS)}")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--million", action="store_true", help="also vaults of 1,000,000 items (some minutes more, 2 GB of disk)")
    parser.add_argument("--compare", nargs="+", metavar="JSON", help="OLD.json, or OLD.json NEW.json without a run: results of --json")
    parser.add_argument("--thresholds", action="store_true", help="counts allocations and system calls per operation; fails when a count is over its limit")
    parser.add_argument("--update-thresholds", action="store_true", help="writes Benchmarks/Thresholds from this tree")
    parser.add_argument("--json", metavar="FILE", default=RESULTS, help=f"writes the results there; default: {RESULTS.relative_to(ROOT)}")
    parser.add_argument("--docs", action="store_true", help="writes docs/benchmarks also for a partial or quick run")
    parser.add_argument("--folder", help="where vaults are made; on the disk to measure; default: a new directory in $TMPDIR")
    parser.add_argument("--no-install", action="store_true", help="installs no packages; measures without the peers that are missing")
    chosen = parser.parse_args()
    chosen.subjects = chosen.only.split(",") if chosen.only else SUBJECTS
    for subject in chosen.subjects:
        if subject not in SUBJECTS:
            parser.error(f"no subject '{subject}'; there are {', '.join(SUBJECTS)}")
    return chosen


def run(words, **options):
    return subprocess.run([str(w) for w in words], check=True, **options)


def install(options):
    """The packages; scripts/install-deps says what is missing, and why it cannot be installed."""
    if subprocess.run([ROOT / "scripts" / "install-deps", *options], stdout=sys.stderr).returncode:
        raise SystemExit(1)


def build(needs_tool):
    started = time.monotonic()
    # In a build for tests, with VAULT_WARNINGS, it is not optimized.
    environment = {name: value for name, value in os.environ.items() if name != "VAULT_WARNINGS"}
    done = subprocess.run(["swift", "build", "-c", "release", "--product", "vault-bench", "--scratch-path", str(SCRATCH)],
                          env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit("bench: the build failed\n" + done.stdout[-4000:] + done.stderr[-2000:])
    binaries = SCRATCH / "release"
    # Not built by SwiftPM, which also links the Swift runtime into C programs: this alone adds 3 ms to the start.
    compiler = Path(os.path.realpath(shutil.which("swift"))).parent / "clang"
    for name, libraries in (("vault-spawn", []), ("agent-load", []), ("get-in-c", ["-lcrypto", "-lsqlite3"])):
        run([compiler, "-O2", "-Wall", "-Werror", ROOT / "Benchmarks" / "Tools" / f"{name}.c", "-o", binaries / name, "-Wl,--as-needed", *libraries])
    vaultctl = None
    if needs_tool:
        vaultctl = run([ROOT / "scripts" / "build-release"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True).stdout.strip()
    note(f"built in {time.monotonic() - started:.0f} s")
    return binaries, vaultctl


def leave_agent():
    """The agent of the person who measures takes no part: commands find none, as in the place of a new login."""
    place = tempfile.mkdtemp(prefix="vault-run-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    os.environ["XDG_RUNTIME_DIR"] = place
    os.environ.pop("VAULTCTL_AGENT", None)


def in_process(binaries, subjects, chosen, folder):
    """Results of vault-bench, one race per line."""
    from statistics_of import with_ratios
    words = [binaries / "vault-bench", "--folder", folder, "--sizes", "100000,1000000" if chosen.million else "100000"]
    words += ["--quick"] if chosen.quick else []
    races = []
    with subprocess.Popen([str(w) for w in [*words, *subjects]], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            race = json.loads(line)
            with_ratios(race["readings"])
            races.append(race)
    if process.returncode:
        raise SystemExit("bench: vault-bench failed")
    return races


def openssl_speed(binaries, quick):
    """Bytes per second of `openssl speed -evp aes-256-gcm`, 1 MiB at a time, and ours, in turn: the best of each."""
    best, ours, seconds = 0, 0, 1
    for _ in range(2 if quick else 4):
        race = run([binaries / "vault-bench", "--race", "gcm-large", "seal"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ours = max(ours, *(1e9 / min(r["ns"]) for r in json.loads(race.stdout)["readings"] if r["name"].startswith("vault")))
        done = subprocess.run(["openssl", "speed", "-mr", "-seconds", str(seconds), "-bytes", str(1 << 20), "-evp", "aes-256-gcm"],
                              capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith("+F:"):
                best = max(best, float(line.split(":")[-1]))
    return {"aes-256-gcm": best, "vault": ours} if best else {}


def pyotp(quick):
    """A separate race, because Python is another process."""
    code = ("import pyotp, time, json\nh = pyotp.HOTP('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')\nassert h.at(1) == '287082'\nout = []\n"
            f"for r in range({9 if quick else 25}):\n  t = time.perf_counter_ns()\n  for i in range(2000): h.at(i)\n"
            "  out.append((time.perf_counter_ns() - t) / 2000)\nprint(json.dumps(out))")
    done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def add_pyotp(races, quick):
    race = next((race for race in races if race["id"] == "otp-one"), None)
    if not race:
        return
    samples = pyotp(quick)
    if samples is None:
        race["absent"].append("pyotp")
        return
    from statistics_of import figures
    reading = {"name": "pyotp HOTP.at, object kept"} | figures(samples)
    reference = race["readings"][0]
    reading["ratioMin"], reading["ratioMedian"] = reading["min"] / reference["min"], reading["median"] / reference["median"]
    reading["ratioQ1"] = reading["q1"] / reference["median"]
    reading["ratioQ3"] = reading["q3"] / reference["median"]
    race["readings"].append(reading)


def work_counts(binaries, folder, command):
    """P19, P20 and P23: commits and derivations, which are the same on a busy machine."""
    done = run([binaries / "vault-bench", "--folder", folder, command], stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def growth(binaries, chosen, folder):
    """P15: the same calls on vaults of growing size, and more and more writers."""
    sizes = [100, 1_000, 10_000, 100_000] + ([1_000_000] if chosen.million else [])
    words = [binaries / "vault-bench", "--folder", folder, "--sizes", ",".join(map(str, sizes)), "growth"] + (["--quick"] if chosen.quick else [])
    done = run(words, stdout=subprocess.PIPE, text=True)
    points = []
    for line in done.stdout.splitlines():
        race = json.loads(line)
        points.append({"items": int(race["id"].split("-")[1]),
                       "ns": {r["name"].removeprefix("vault: "): min(r["ns"]) for r in race["readings"]}})
    writers, seconds = [], "1" if chosen.quick else "2"
    for count in (1, 2, 4, 8, 16, 32, 50):
        started = [subprocess.Popen([str(binaries / "vault-bench"), "--folder", folder, "write", seconds], stdout=subprocess.PIPE, text=True)
                   for _ in range(count)]
        codes = sum(int(process.communicate()[0]) for process in started)
        if any(process.returncode for process in started):
            raise SystemExit("bench: a writer failed")
        writers.append({"processes": count, "perSecond": codes / float(seconds)})
    return {"items": points, "writers": writers}


def measure(chosen, binaries, vaultctl, folder):
    import machine
    import processes
    data = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "quick": chosen.quick, "subjects": chosen.subjects,
            "machine": machine.describe(folder), "races": []}
    subjects = [s for s in chosen.subjects if s in IN_PROCESS]
    if subjects:
        data["races"] += in_process(binaries, subjects, chosen, folder)
    if "otp" in subjects:
        add_pyotp(data["races"], chosen.quick)
    if "seal" in subjects:
        data["opensslSpeed"] = openssl_speed(binaries, chosen.quick)
    if "pin" in subjects:
        data["pinCounts"] = work_counts(binaries, folder, "pin-counts")
    if "transactions" in subjects:
        data["transactionCounts"] = work_counts(binaries, folder, "transaction-counts")
    spawner = processes.Spawner(str(binaries / "vault-spawn"), chosen.quick)
    bench = str(binaries / "vault-bench")
    if "start" in chosen.subjects:
        import https
        import start_up
        note("start-up")
        data["races"] += start_up.run(spawner, vaultctl, bench, str(binaries / "get-in-c"), folder, 100_000)
        data["races"] += https.run(spawner, vaultctl, folder)
    if "agent" in chosen.subjects:
        import agent
        note("agent")
        races, data["agent"] = agent.run(spawner, vaultctl, bench, binaries, folder, chosen.quick, note)
        data["races"] += races
    if "tool" in chosen.subjects:
        import whole_tool
        note("whole tools")
        sizes = [1_000] if chosen.quick else [1_000, 10_000]
        data["wholeTool"] = whole_tool.run(spawner, vaultctl, bench, sizes, sizes + [100_000], folder, note)
    if "growth" in chosen.subjects:
        note("growth")
        data["growth"] = growth(binaries, chosen, folder)
    import targets
    data["targets"] = [row for row in targets.rows(data)]
    return data


def publish(data, chosen):
    import page
    import plots
    import readme
    DOCS.mkdir(parents=True, exist_ok=True)
    images = plots.draw(DOCS, data, note)
    for row in page.write(DOCS / "README.md", data, images):
        note(f"bench: {row['id']} is not met, and docs/benchmarks/README.md has no line '- **{row['id']}**'")
    readme.write(ROOT / "README.md", DOCS / "README.md")
    note(f"wrote {DOCS}, and the figures of README.md")


def main():
    chosen = arguments()
    os.chdir(ROOT)
    if chosen.compare and len(chosen.compare) == 2:
        import compare
        print(compare.report(*(json.loads(Path(name).read_text()) for name in chosen.compare)))
        return
    leave_agent()
    old = json.loads(Path(chosen.compare[0]).read_text()) if chosen.compare else None
    install(["--check", "--build-only"] if chosen.no_install else ["--bench"])
    is_counting = chosen.thresholds or chosen.update_thresholds
    binaries, vaultctl = build(is_counting or {"start", "agent", "tool"} & set(chosen.subjects))
    if is_counting:
        import thresholds
        sys.exit(0 if thresholds.check(str(binaries / "vault-bench"), vaultctl, ROOT, chosen.update_thresholds, note) else 1)
    started = time.monotonic()
    folder = tempfile.mkdtemp(prefix="vault-bench-", dir=chosen.folder)
    try:
        data = measure(chosen, binaries, vaultctl, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    import page
    import shown
    print(page.races(data) + "\n")
    print(shown.plain_table(page.TARGET_HEAD, [row for row in page.target_rows(data) if row[-1] != "not run" or not chosen.only]))
    Path(chosen.json).write_text(json.dumps(data, indent=1) + "\n")
    if chosen.docs or not (chosen.only or chosen.quick):
        publish(data, chosen)
    if old:
        import compare
        print(compare.report(old, data))
    note(f"measured in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
