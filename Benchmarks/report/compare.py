"""Lists the changes between two runs beyond the spread. Compares ratios to the reference of the same run, not times, because the
machine may have been busier. A change counts if the middle halves of the rounds do not overlap and it is over 10 %."""
import shown


def changes(old, new):
    before = {(race["id"], r["name"]): r for race in all_races(old) for r in race["readings"]}
    found = []
    for race in all_races(new):
        for index, reading in enumerate(race["readings"]):
            was = before.get((race["id"], reading["name"]))
            if not was or index == 0:
                continue
            apart = reading["ratioQ1"] > was["ratioQ3"] or reading["ratioQ3"] < was["ratioQ1"]
            change = reading["ratioMedian"] / was["ratioMedian"] - 1
            same_way = (reading["ratioMin"] / was["ratioMin"] - 1) * change > 0
            if apart and same_way and abs(change) > 0.10:
                found.append([race["title"], reading["name"], shown.ratio(was["ratioMedian"]), shown.ratio(reading["ratioMedian"]), f"{100 * change:+.0f} %"])
            if "allocations" in reading and abs(reading["allocations"] - was["allocations"]) > max(0.5, 0.05 * was["allocations"]):
                found.append([race["title"], reading["name"] + ": malloc", shown.number(was["allocations"]), shown.number(reading["allocations"]), ""])
    return found


def all_races(data):
    return data["races"] + data.get("wholeTool", {}).get("races", [])


def report(old, new):
    found = changes(old, new)
    if not found:
        return "nothing changed beyond the spread"
    return shown.plain_table(["race", "contender", "before", "after", "change"], found)
