"""Plots into docs/benchmarks/. Needs matplotlib; without it says so."""


def draw(folder, data, note):
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        note("bench: no plots, python3-matplotlib is not installed")
        return []
    images = []
    def save(figure, name, title):
        figure.tight_layout()
        figure.savefig(folder / name, dpi=110, metadata={"Software": None})
        plt.close(figure)
        images.append((title, name))
    if data.get("growth"):
        save(growth(plt, data["growth"]), "growth.png", "Cost as the vault grows")
        if data["growth"].get("writers"):
            save(writers(plt, data["growth"]["writers"]), "writers.png", "Durable codes from several processes")
    races = {race["id"]: race for race in data["races"]}
    chosen = [races[i] for i in ("otp-one", "otp-window", "otp-bulk", "gcm-seal-64", "durable-hotp", "get-100000") if i in races]
    if chosen:
        save(bars(plt, chosen), "races.png", "Time beside the peers")
    if data.get("wholeTool"):
        save(tools(plt, data["wholeTool"]), "whole-tool.png", "Look up one item, whole tools")
    return images


def growth(plt, part):
    figure, axes = plt.subplots(figsize=(7, 4))
    names = list(dict.fromkeys(n for p in part["items"] for n in p["ns"]))
    for name in names:
        points = [(p["items"], p["ns"][name] / 1e3) for p in part["items"] if name in p["ns"]]
        axes.plot(*zip(*points), marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="items in the vault", ylabel="µs (one call; list: per item)")
    axes.grid(True, alpha=0.3)
    axes.legend()
    return figure


def writers(plt, points):
    figure, axes = plt.subplots(figsize=(7, 3.5))
    axes.plot([p["processes"] for p in points], [p["perSecond"] for p in points], marker="o")
    axes.set(xlabel="processes", ylabel="durable codes per second", ylim=(0, None))
    axes.grid(True, alpha=0.3)
    return figure


def bars(plt, races):
    figure, grid = plt.subplots((len(races) + 1) // 2, 2, figsize=(11, 2.3 * ((len(races) + 1) // 2)))
    for axes, race in zip(grid.flat, races):
        readings = race["readings"][::-1]
        colours = ["#c0504d" if r["name"].startswith("vault") else "#8a9fb5" for r in readings]
        axes.barh([r["name"][:34] for r in readings], [r["min"] for r in readings], color=colours)
        axes.set_title(f"{race['title']}, ns per {race['unit']}", fontsize=9)
        axes.tick_params(labelsize=7)
        if max(r["min"] for r in readings) > 20 * min(r["min"] for r in readings):
            axes.set_xscale("log")
    for axes in list(grid.flat)[len(races):]:
        axes.axis("off")
    return figure


def tools(plt, part):
    figure, axes = plt.subplots(figsize=(8, 4))
    races = [race for race in part["races"] if race["id"].startswith("tool-get-")]
    names = list(dict.fromkeys(r["name"] for race in races for r in race["readings"]))
    for name in names:
        points = [(int(race["id"].rsplit("-", 1)[1]), r["median"] / 1e6) for race in races for r in race["readings"] if r["name"] == name]
        axes.plot(*zip(*points), marker="o", label=name, linewidth=2.5 if name.startswith("vaultctl") else 1)
    axes.set(xscale="log", yscale="log", xlabel="items", ylabel="ms, look up one")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
