"""Numbers for people."""


def number(value):
    if value is None:
        return "–"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def time(ns):
    if ns is None:
        return "–"
    for limit, unit in ((1e3, "ns"), (1e6, "µs"), (1e9, "ms")):
        if ns < limit:
            return f"{number(ns / limit * 1e3)} {unit}"
    return f"{number(ns / 1e9)} s"


def ratio(value):
    if value is None:
        return "–"
    return f"{value:.2f} ×" if value >= 0.1 else f"{value:.3f} ×"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def plain_table(head, rows):
    cells = [[str(c) for c in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in cells)
