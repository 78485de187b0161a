"""Samples become figures: minimum, median, quartiles, and ratios to the first contender of the race."""
from statistics import median


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figures(samples):
    return {
        "min": min(samples),
        "median": median(samples),
        "q1": quantile(samples, 0.25),
        "q3": quantile(samples, 0.75),
        "rounds": len(samples),
    }


def with_ratios(readings):
    """Adds `ratioMin` (of the minima) and `ratio…` (of the rounds) to readings that have `ns`; drops the samples."""
    reference = readings[0]["ns"]
    for reading in readings:
        samples = reading.pop("ns") if reading is not readings[0] else reference
        reading.update(figures(samples))
        ratios = [a / b for a, b in zip(samples, reference)]
        reading["ratioMin"] = min(samples) / min(reference)
        reading["ratioMedian"] = median(ratios)
        reading["ratioQ1"], reading["ratioQ3"] = quantile(ratios, 0.25), quantile(ratios, 0.75)
    readings[0].pop("ns", None)
    return readings
