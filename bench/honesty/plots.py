#!/usr/bin/env python3
"""Draws the plots of docs/internals/measuring.md from bench/results/GPU/*.json.xz into docs/images.

usage: bench/honesty/plots.py RESULTS_DIR IMAGES_DIR

A plot whose results are not there is not drawn. Each names the GPU and the date of its
measurements. Standard library only.
"""
import json
import lzma
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import aa  # noqa: E402
import cupti  # noqa: E402
import svg  # noqa: E402



def percent(value):
    return f"{value:+.2g}%" if abs(value) > 1e-9 else "0"


def count(elements):
    """16777216 as 16M."""
    for power, letter in ((20, "M"), (10, "K")):
        if elements >= 1 << power:
            return f"{elements >> power}{letter}"
    return str(elements)


def load(folder, name):
    """NAME.json or NAME.json.xz; None where neither is."""
    path = os.path.join(folder, name + ".json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    if os.path.exists(path + ".xz"):
        with lzma.open(path + ".xz", "rt", encoding="utf-8") as file:
            return json.load(file)
    return None


def origin(report):
    device = report["device"] or {}
    return f"{device.get('name', '?')}, {device.get('driver', '?')}, {report['date'][:10]}"


def plot_aa(report):
    """Every pair's ratio with its interval, sorted; those that exclude 1 in red."""
    records = sorted((record for record in report["pairs"] if record["ratio"] is not None), key=lambda r: r["ratio"])
    if not records:
        return None
    reach = max(max(abs(record["low"] - 1), abs(record["high"] - 1)) for record in records) * 100
    x, y = svg.horizontal(0, len(records) + 1), svg.vertical(-1.05 * reach, 1.05 * reach)
    marks = svg.axes(x, y, "pairs, by their ratio", "reported ratio - 1", y_text=percent)
    marks.append(svg.line(svg.LEFT, y.at(0), svg.WIDTH - svg.RIGHT, y.at(0), svg.INK))
    for place, record in enumerate(records, 1):
        colour = svg.RED if aa.is_false(record) else svg.BLUE
        marks.append(svg.line(x.at(place), y.at(100 * (record["low"] - 1)), x.at(place), y.at(100 * (record["high"] - 1)),
                              colour, 1.2))
        marks.append(svg.dot(x.at(place), y.at(100 * (record["ratio"] - 1)), colour, 1.6))
    false = sum(map(aa.is_false, records))
    return svg.document(f"A kernel against itself: {false} of {len(records)} intervals exclude 1", origin(report), marks)


def plot_cupti(report):
    """Difference of the reported device time from CUPTI's, over the kernel's length; the stamps' own distance hollow."""
    rows = [row for row in report["kernels"] if row["difference"] is not None]
    if not rows:
        return None
    lengths = [row["cupti_ns"] / 1e3 for row in rows]
    reach = max(max(abs(row["difference"]) for row in rows), 1.5 * cupti.DIFFERENCE_TARGET) * 110
    x = svg.horizontal(min(lengths) * 0.8, max(lengths) * 1.25, log=True)
    y = svg.vertical(-reach, max(reach, 10.0))
    band = 100 * cupti.DIFFERENCE_TARGET
    marks = [svg.box(svg.LEFT, y.at(band), svg.WIDTH - svg.RIGHT - svg.LEFT, y.at(-band) - y.at(band), svg.PALE)]
    marks += svg.axes(x, y, "duration by CUPTI, us", "difference from CUPTI", y_text=percent)
    shortest = cupti.SHORTEST_NS / 1e3
    if x.low < shortest:
        marks.append(svg.line(x.at(shortest), svg.TOP, x.at(shortest), svg.HEIGHT - svg.BOTTOM, svg.GREY, 1, "4 3"))
        marks.append(svg.text(x.at(shortest) + 4, svg.TOP + 12, "judged from here", 11, colour=svg.GREY))
    for row in rows:
        place = x.at(row["cupti_ns"] / 1e3)
        raw = row["under_cupti_raw_ns"]
        if raw is not None:
            marks.append(svg.dot(place, y.at(100 * (raw / row["cupti_ns"] - 1)), svg.GREY, 2.6, hollow=True))
        marks.append(svg.dot(place, y.at(100 * row["difference"]), svg.BLUE, 3.2))
    summary = report["summary"]
    title = "Device time against CUPTI, cold cache"
    if summary["worst"] is not None:
        title += f": {summary['within']} of {summary['kernels']} kernels within {cupti.DIFFERENCE_TARGET:.0%}"
    return svg.document(title, origin(report) + "; hollow: between the time stamps, cut at the top", marks)


def plot_repeat(report):
    """Each process's ratio over the median of its pair of kernels."""
    rows = [row for row in report["summary"]["cases"] if row["spread"] is not None]
    if not rows:
        return None
    reach = max(100 * max(row["spread"] for row in rows), 1.0)
    y = svg.vertical(-reach, reach)
    marks = svg.axes(None, y, "", "ratio against its median", y_text=percent)
    step = (svg.WIDTH - svg.RIGHT - svg.LEFT) / len(rows)
    for place, row in enumerate(rows):
        middle = svg.LEFT + step * (place + 0.5)
        family, elements = row["case"].split()
        case = f"{family} {count(int(elements))}"
        ratios = [record["ratio"] for record in report["runs"][row["case"]] if record["ratio"] is not None]
        for number, ratio in enumerate(ratios):
            marks.append(svg.dot(middle + (number - (len(ratios) - 1) / 2) * min(7, step / 12),
                                 y.at(100 * (ratio / row["median_ratio"] - 1)), svg.BLUE if row["long"] else svg.GREY, 2.8))
        marks.append(svg.text(middle, svg.HEIGHT - svg.BOTTOM + 17, case, 11, "middle"))
        marks.append(svg.text(middle, svg.HEIGHT - svg.BOTTOM + 31, f"{row['median_ratio']:.2f}x", 11, "middle", svg.GREY))
        marks.append(svg.text(middle, svg.TOP + 12, f"{row['spread']:.2%}", 11, "middle", svg.GREY))
    return svg.document(f"The same pairs in {report['processes']} fresh processes", origin(report) +
                        "; above: spread, (largest - smallest) / median", marks)


def throughput_bars(kernelbench, multi):
    """[(label, candidates a minute, colour)]"""
    bars = []
    if kernelbench:
        for name, label in (("kernelbench", "KernelBench"), ("kernelbench_precompiled", "KernelBench, parallel compile")):
            if kernelbench[name] and kernelbench[name]["a_minute"]:
                bars.append((label, kernelbench[name]["a_minute"], svg.GREY))
        bars.append(("Warpwright, 1 GPU", kernelbench["warpwright"]["a_minute"], svg.BLUE))
    if multi:
        bars.append(("Warpwright, 1 GPU of the host below", multi["one"]["a_minute"], svg.BLUE))
        bars.append((f"Warpwright, {multi['all']['gpus']} GPUs", multi["all"]["a_minute"], svg.GREEN))
    return [bar for bar in bars if bar[1] > 0]


def plot_throughput(kernelbench, multi):
    bars = throughput_bars(kernelbench, multi)
    if not bars:
        return None
    names = 238
    x = svg.Axis(min(0.8 * min(bar[1] for bar in bars), 1.0), 2 * max(bar[1] for bar in bars), names, svg.WIDTH - svg.RIGHT, True)
    marks = [svg.line(x.at(tick), svg.TOP, x.at(tick), svg.HEIGHT - svg.BOTTOM, "#d8dee4", 0.7) for tick in x.ticks()]
    marks += [svg.text(x.at(tick), svg.HEIGHT - svg.BOTTOM + 18, f"{tick:,g}", 11, "middle") for tick in x.ticks()]
    step = (svg.HEIGHT - svg.BOTTOM - svg.TOP) / len(bars)
    for place, (label, value, colour) in enumerate(bars):
        top = svg.TOP + step * (place + 0.2)
        marks.append(svg.box(names, top, x.at(value) - names, 0.6 * step, colour))
        marks.append(svg.text(names - 8, top + 0.3 * step + 4, label, 12, "end"))
        marks.append(svg.text(x.at(value) + 6, top + 0.3 * step + 4, f"{value:,.3g}" if value < 1000 else f"{value:,.0f}", 12))
    marks.append(svg.text((names + svg.WIDTH - svg.RIGHT) / 2, svg.HEIGHT - 12,
                          "candidates a minute, correct and measured (logarithmic)", 12, "middle"))
    return svg.document("Throughput", origin(kernelbench or multi), marks)


def draw(results, images):
    """Names of the files that were written."""
    reports = {name: load(results, name) for name in ("aa", "cupti", "repeat", "kernelbench", "multi_gpu")}
    drawings = {"measuring_aa": reports["aa"] and plot_aa(reports["aa"]),
                "measuring_cupti": reports["cupti"] and plot_cupti(reports["cupti"]),
                "measuring_repeat": reports["repeat"] and plot_repeat(reports["repeat"]),
                "measuring_throughput": plot_throughput(reports["kernelbench"], reports["multi_gpu"])}
    os.makedirs(images, exist_ok=True)
    written = []
    for name, drawing in drawings.items():
        if drawing:
            with open(os.path.join(images, name + ".svg"), "w", encoding="utf-8") as file:
                file.write(drawing)
            written.append(name + ".svg")
    return written


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print("\n".join(draw(sys.argv[1], sys.argv[2])) or "no results, no plots")
