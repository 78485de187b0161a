"""The tables of docs/benchmarks/README.md, between two marks; the text around them is written by hand."""
import re

import shown

BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"


def write(path, data, images):
    text = path.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(before + BEGIN + "\n\n" + tables(data, images) + "\n" + END + after)
    return [row for row in data["targets"] if row["verdict"] == "not met" and not re.search(rf"^- \*\*{row['id']}\b", text, re.M)]


def target_rows(data):
    return [[r["id"], r["what"], r["target"], r["reading"], r["reference"], shown.ratio(r["ratio"]), shown.ratio(r["ratioMedian"]), r["verdict"]]
            for r in data["targets"]]


TARGET_HEAD = ["", "path", "target", "reading (minimum)", "reference, same run", "ratio", "ratio of medians", ""]
# Times are not comparable between machines: the page has them only where they are all that is said.
PAGE_HEAD = ["", "path", "target", "found", "by medians", ""]


def page_rows(data):
    return [[r["id"], r["what"], r["target"], r["reading"] if r["ratio"] is None or r["verdict"] == "stated" else shown.ratio(r["ratio"]),
             shown.ratio(r["ratioMedian"]), f"**{r['verdict']}**" if r["verdict"] == "not met" else r["verdict"]] for r in data["targets"]]


def tables(data, images):
    parts = [machine(data), "### Targets\n\n" + shown.table(PAGE_HEAD, page_rows(data))]
    parts += [whole_tool(data)] if data.get("wholeTool") else []
    parts += [agent(data["agent"])] if data.get("agent") else []
    parts += [growth(data)] if data.get("growth") else []
    parts += [f"![{title}]({name})" for title, name in images]
    return "\n\n".join(parts) + "\n"


def races(data):
    """Every race, for the terminal: its readings, with the ratio of the minima to the first one."""
    return "\n\n".join(f"{race['title']}, per {race['unit']}\n{shown.plain_table(RACE_HEAD, race_rows(race))}" for race in data["races"])


def machine(data):
    m = data["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in m["packages"].items())
    return (f"Measured {data['date']} with `scripts/bench{' --quick' if data['quick'] else ''}` on {m['processor']}, {m['processors']} processors "
            f"({', '.join(m['extensions'])}), {m['memoryGiB']} GiB, Linux {m['kernel']}, {m['file system']}, load {m['load at start']:.1f} at the start; "
            f"{m['swift']}; {m['openssl']}. {packages}.")


RACE_HEAD = ["", "minimum", "median", "middle half", "ratio", "malloc"]


def race_rows(race):
    return [[r["name"], shown.time(r["min"]), shown.time(r["median"]), f"{shown.time(r['q1'])} – {shown.time(r['q3'])}",
             shown.ratio(r["ratioMin"]), shown.number(r["allocations"]) if "allocations" in r else "–"] for r in race["readings"]] + [
                 [name, "absent", "", "", "", ""] for name in race["absent"]]


def whole_tool(data):
    part = data["wholeTool"]
    names = list(dict.fromkeys(r["name"] for race in part["races"] for r in race["readings"]))
    sections = []
    for operation in ("get", "add", "list"):
        races = [race for race in part["races"] if race["id"].startswith(f"tool-{operation}-")]
        sizes = [int(race["id"].rsplit("-", 1)[1]) for race in races]
        rows = []
        for name in names:
            cells = [next((r for r in race["readings"] if r["name"] == name), None) for race in races]
            if any(cells):
                rows.append([name] + [f"{shown.time(c['median'])} ({shown.time(c['min'])}, {c['hwmKiB'] / 1024:.0f} MiB)" +
                                      (f", exit {c['exit']}" if c["exit"] else "") if c else "–" for c in cells])
        title = {"get": "Look up one", "add": "Add one", "list": "List all"}[operation]
        sections.append(f"**{title}**: median (minimum, greatest memory of the command)\n\n" +
                        shown.table([""] + [f"{size:,} items" for size in sizes], rows))
    share = derivation_share(part)
    if share:
        sections.append(share)
    if part["cold"]:
        sections.append("**First answer** (nothing of the tool runs yet; `vaultctl` has nothing to start, its figures are those above)\n\n" +
                        shown.table(["", "items", "time"], [[c["name"], f"{c['items']:,}", shown.time(c["ns"])] for c in part["cold"]]))
    if part["memory"]:
        sections.append("**What stays in memory** between commands (`vaultctl` leaves nothing)\n\n" + shown.table(
            ["", "items", "resident"], [[m["name"], f"{m['items']:,}", f"{m['residentKiB'] / 1024:.1f} MiB"] for m in part["memory"]]))
    remarks = "; ".join(f"{name}: {remark}" for name, remark in part["remarks"].items() if remark)
    return "### The whole tool\n\n" + "\n\n".join(sections) + (f"\n\n{remarks}." if remarks else "")


def agent(part):
    """What many clients of the agent see; its look-ups are in the races."""
    rows = [[f"{load['clients']}", f"{load['perSecond']:,.0f}", shown.time(load["p50"]), shown.time(load["p99"])] for load in part["load"]]
    memory = part["memory"]
    return ("### Through the agent\n\n`item get` by clients that are threads, so that no process is started; the best of the rounds:\n\n" +
            shown.table(["clients", "per second", "median", "p99"], rows) +
            f"\n\nThe agent has {memory['afterKiB'] / 1024:.1f} MiB with {memory['items']:,} items after {memory['requests']:,} requests, and had "
            f"{memory['beforeKiB'] / 1024:.1f} before them.")


def derivation_share(part):
    for race in part["races"]:
        if race["id"].startswith("tool-get-"):
            found = {r["name"]: r["median"] for r in race["readings"]}
            if "vaultctl" in found and "vaultctl, with passcode" in found:
                with_it, without = found["vaultctl, with passcode"], found["vaultctl"]
                return (f"With a passcode a look-up derives a key: {shown.time(with_it - without)} of {shown.time(with_it)}, "
                        f"{100 * (1 - without / with_it):.0f} %.")
    return None


def growth(data):
    g = data["growth"]
    names = list(dict.fromkeys(n for p in g["items"] for n in p["ns"]))
    parts = ["### As work grows", shown.table(["items"] + names, [[f"{p['items']:,}"] + [shown.time(p["ns"].get(n)) for n in names] for p in g["items"]])]
    if g.get("writers"):
        parts.append("HOTP codes of one credential, each durable, from several processes at once:\n\n" + shown.table(
            ["processes", "codes per second", "time per code"],
            [[w["processes"], f"{w['perSecond']:,.0f}", shown.time(1e9 / w["perSecond"])] for w in g["writers"]]))
    return "\n\n".join(parts)
