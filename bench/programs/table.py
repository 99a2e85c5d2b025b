"""The lines of bench/programs/run.py as a table, with geometric means in which a failure counts as 1.0."""
import collections
import json
import lzma
import math
import os
import random
import sys


NEAR = 1.5


def read(path):
    """The lines of a file; a last line that was cut short is left out. Of a file of bench/results, which holds several runs, a
    program has the lines of the last run that reached it."""
    lines = []
    if path.endswith(".json.xz"):
        programs = {}
        with lzma.open(path, "rt") as file:
            for one in json.load(file)["runs"]:
                for name in sorted({line["program"] for line in one["lines"] if line["kind"] == "program"}):
                    programs[name] = [line for line in one["lines"] if line["program"] == name]
        return [line for found in programs.values() for line in found]
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                try:
                    lines.append(json.loads(line))
                except json.JSONDecodeError:
                    continue
    return lines


def before(time):
    return {"before_ns": time["median_ns"], "before_kernel_ns": time.get("kernel_ns")}


def task_and_launch_ns(line):
    """The kernel's time in its task and in the program, as a profiler counts it; of the launch that the task stands for, where
    the run tells it."""
    return line.get("before_kernel_ns") or line["before_ns"], line.get("launch_ns") or line["total_ns"] / line["launches"]


def outcome_of(kernel):
    """Facts of a kernel in the document of `optimize --json`."""
    outcomes = collections.Counter(variant["outcome"] for variant in kernel["variants"])
    refused = [{"moves": variant["moves"], "outcome": variant["outcome"], "message": variant["message"][:200]}
               for variant in kernel["variants"] if variant["outcome"] != "verified"]
    facts = {"variants": dict(outcomes), "sizes": kernel["sizes"], "refused": refused}
    if kernel["error"]:
        facts["why"] = kernel["error"]["message"]
    best = kernel["variants"][kernel["best"]] if kernel["best"] is not None else None
    speedup = best and best["speedup"]
    if speedup:
        return {**facts, "outcome": "faster", "speedup": speedup["ratio"], "low": speedup["low"], "high": speedup["high"],
                **before(best["reference_time"]), "after_ns": best["time"]["median_ns"], "moves": best["moves"],
                "device": speedup["device"], "diff": kernel["diff"]}
    if best:
        return {**facts, "outcome": "checked", "moves": best["moves"]}
    if kernel["error"]:
        return {**facts, "outcome": "failed"}
    if not outcomes.get("verified"):
        why = kernel["variants"][0]["message"] if kernel["variants"] else "no variant"
        return {**facts, "outcome": "nothing verified", "why": why}
    time = next((variant["reference_time"] for variant in kernel["variants"] if variant["reference_time"]), None)
    return {**facts, "outcome": "nothing faster", **(before(time) if time else {})}


def kernel_text(line):
    speedup = f"{line['speedup']:.2f}x [{line['low']:.2f}, {line['high']:.2f}] {' + '.join(line['moves'])}" if "speedup" in line else \
        line["outcome"] + (": " + " ".join(line["why"].split())[:120] if line.get("why") else "")
    return f"{line['kernel']:32} {line['share']:6.1%}  {speedup}"


def speedup_of(line):
    return max(line.get("speedup") or 1.0, 1.0)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def interval(groups):
    """95% of the geometric mean over the values of all groups, by drawing whole groups."""
    draw = random.Random(1)
    means = sorted(geometric_mean([value for _ in groups for value in draw.choice(groups)]) for _ in range(1000))
    return means[25], means[974]


def gpu_ratio(kernels, gpu_ns):
    """GPU time of a program before over after, if each kernel's launches gain what its task gained."""
    saved = sum(line["total_ns"] * (1 - 1 / speedup_of(line)) for line in kernels)
    return gpu_ns / (gpu_ns - saved)


def mean_text(name, groups):
    groups = [group for group in groups if group]
    if not groups:
        return f"- {name}: none\n"
    low, high = interval(groups)
    values = [value for group in groups for value in group]
    return f"- {name}: {geometric_mean(values):.3f} [{low:.3f}, {high:.3f}], {len(values)} values\n"


def cell(text):
    return " ".join(str(text).split()).replace("|", "/")[:100]


def render(lines):
    programs = {}
    for line in lines:
        programs.setdefault(line["program"], collections.defaultdict(list))[line["kind"]].append(line)
    finished = {name: facts for name, facts in programs.items() if facts["program"]}
    text = f"# CUDA programs of HeCBench, a to m: {len(finished)} reached\n\n"
    for outcome, count in collections.Counter(facts["program"][-1]["outcome"] for facts in finished.values()).most_common():
        text += f"- {count} {outcome}\n"
    texts = [facts["analyze"][-1] for facts in programs.values() if facts["analyze"]]
    text += f"- tasks known from the text: {sum(one['inferred'] for one in texts)} of {sum(one['kernels'] for one in texts)} kernels\n"
    launched = [kernel for facts in finished.values() for one in facts["kernels"][-1:] for kernel in one["launched"]]
    text += f"- tasks known with the run: {sum(kernel['task'] for kernel in launched)} of {len(launched)} launched kernels\n"
    outcomes = collections.Counter(line["outcome"] for facts in finished.values() for line in facts["kernel"])
    text += f"- kernels optimized: {sum(outcomes.values())}: {', '.join(f'{count} {name}' for name, count in outcomes.most_common())}\n"
    timed = [task_and_launch_ns(line) for facts in finished.values() for line in facts["kernel"] if line.get("before_ns")]
    near = sum(max(task / launch, launch / task) <= NEAR for task, launch in timed)
    text += f"- tasks that take as long as a launch in the program, within {NEAR}x: {near} of {len(timed)}\n"
    text += mean_text("kernels, geometric mean (failures as 1.0, interval over programs)",
                      [[speedup_of(line) for line in facts["kernel"]] for facts in finished.values()])
    ratios = {name: gpu_ratio(facts["kernel"], facts["capture"][-1]["gpu_ns"]) for name, facts in finished.items()
              if facts["capture"] and facts["capture"][-1]["gpu_ns"] > 0}
    text += mean_text("GPU time of a program before / after, from its kernels", [[ratio] for ratio in ratios.values()])
    wholes = [facts["whole"][-1] for facts in finished.values() if facts["whole"]]
    if wholes:
        ratios = [whole["ratio"] for whole in wholes]
        text += mean_text("whole runs, original / changed (unchanged as 1.0)", [[ratio["median"] if ratio else 1.0] for ratio in ratios])
        text += f"- runs that end over 5% sooner: {sum(bool(one) and one['low'] > 1.05 for one in ratios)} of {len(wholes)}\n"
        gpu = [[whole["gpu_ns"] / whole["changed_gpu_ns"] if whole["changed_gpu_ns"] else 1.0] for whole in wholes]
        text += mean_text("GPU time of a whole program before / after, recorded", gpu)
        text += "\n| program | run before | run after | ratio | GPU time before | after | result |\n|---|---:|---:|---|---:|---:|---|\n"
        for whole in wholes:
            def s(key):
                return f"{whole[key]['median']:.3f} s" if whole[key] else ""
            ratio = whole["ratio"]
            told = f"{ratio['median']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}]" if ratio else ""
            after = f"{whole['changed_gpu_ns'] / 1e6:.2f} ms" if whole["changed_gpu_ns"] else ""
            text += (f"| {cell(whole['program'])} | {s('original_s') or s('first_runs_s')} | {s('changed_s')} | {told} "
                     f"| {whole['gpu_ns'] / 1e6:.2f} ms | {after} | {cell(whole['outcome'])} |\n")
    text += "\n| program | kernel | share of GPU time | launch | before | after | speedup | result |\n|---|---|---:|---:|---:|---:|---:|---|\n"
    for name, facts in programs.items():
        if not facts["kernel"]:
            why = facts["program"][-1]["outcome"] if facts["program"] else "not finished"
            text += f"| {cell(name)} | | | | | | | {cell(why)} |\n"
        for line in facts["kernel"]:
            def us(key):
                return f"{line[key] / 1e3:.1f} us" if line.get(key) else ""
            ratio = f"{line['speedup']:.2f} [{line['low']:.2f}, {line['high']:.2f}]" if "speedup" in line else ""
            told = " + ".join(line["moves"]) if line.get("moves") else line["outcome"] + (": " + line["why"] if line.get("why") else "")
            text += (f"| {cell(name)} | {cell(line['kernel'])} | {line['share']:.1%} | {line['total_ns'] / line['launches'] / 1e3:.1f} us "
                     f"| {us('before_ns')} | {us('after_ns')} | {ratio} | {cell(told)} |\n")
    return text


if __name__ == "__main__":
    print(render(read(sys.argv[1])), end="")
