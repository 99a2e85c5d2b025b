"""What the benchmarks share when they write results: medians, interval of a rate, entries for bench/summary.py.

Standard library only.
"""
import datetime
import json
import math
import os
import statistics
import tempfile


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def wilson(hits, total, z=1.959964):
    """95% interval of a rate (Wilson 1927). total > 0."""
    rate = hits / total
    centre = (rate + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return max(0.0, centre - half), min(1.0, centre + half)


def quantile(values, q):
    """Of a list that need not be sorted; linear between neighbours."""
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values):
    return statistics.median(values)


def median_interval(values):
    """(low, median, high): 95% interval of a median from order statistics. The values are independent; at least 6 of them."""
    ordered, size = sorted(values), len(values)
    below = rank = 0
    while (below := below + math.comb(size, rank) / 2 ** size) <= 0.025:
        rank += 1
    return ordered[rank - 1], median(ordered), ordered[size - rank]


def gpu_name(device):
    """Of a verdict's or info's device; None for what is no GPU, whose times mean nothing."""
    return f"{device['name']}, {device['driver']}" if device and device.get("kind") == "cuda" else None


class Entries:
    """Collects entries for bench/summary.py: same command, GPU, commit and date."""

    def __init__(self, command, gpu, commit):
        self.shared = {"command": command, "gpu": gpu, "commit": commit, "date": now()}
        self.list = []

    def add(self, key, value, unit, target=None, low=None, high=None, digits=4):
        def rounded(number):
            return number if number is None or isinstance(number, int) else float(f"{number:.{digits}g}")
        self.list.append({"key": key, "value": rounded(value), "low": rounded(low), "high": rounded(high),
                          "unit": unit, "target": target, **self.shared})


def write_json(path, content):
    """Whole or not at all."""
    folder = os.path.dirname(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def write_results(folder, name, report, entries):
    """`NAME.json` with everything, `NAME.entries.json` for the summary, which is left out where there was no GPU."""
    write_json(os.path.join(folder, name + ".json"), report)
    if entries.list and entries.shared["gpu"]:
        write_json(os.path.join(folder, name + ".entries.json"), entries.list)
