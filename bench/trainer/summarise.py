#!/usr/bin/env python3
"""What scripts/gpu/train.sh left, as one JSON file and a table: best of k by policy, paired ratios, shares of random search, analyses,
throughput, the adversary suite.

  summarise.py FOLDER... --out eval.json      folders of the parts, the last one holds the most; nothing is measured here

Means are geometric over tasks, intervals bootstraps over tasks (2000 drawings, percentiles), ratios
task by task. Standard library only.
"""
import argparse
import glob
import json
import math
import os
import random
import re

NAMES = {"run/rl": "RL (contrastive)", "run/selfsup": "SFT + selfsup", "run/sft": "SFT", "run/untrained": "untrained", "grpo/rl": "RL (GRPO, no exemplars)",
         "weights/policy": "shipped before"}
EVALUATIONS = {"recorded_held_out": ["eval_recorded"], "recorded_training": ["eval_recorded_training"]}  # of live ones: held_out.py
STAGES = ["RL (contrastive)", "SFT + selfsup", "SFT", "untrained"]


def shown(policy):
    match = re.search(r"(\w+/\w+)\.safetensors", policy)
    return NAMES.get(match.group(1), match.group(1)) if match else policy


def events(folders, name):
    """Of the last folder that has the log; of a resumed stage, what follows its last start."""
    for folder in reversed(folders):
        path = os.path.join(folder, name, "log.jsonl")
        if os.path.exists(path):
            with open(path) as lines:
                return [json.loads(line) for line in lines if line.endswith("\n")]
    return []


def last_run(found):
    starts = [i for i, event in enumerate(found) if event["event"] == "start"]
    whole = [i for i in starts if any(e["event"] == "best_of_k" for e in found[i:i + 100_000])]
    begin = whole[-1] if whole else (starts[-1] if starts else 0)
    return found[begin:]


def interval(logs):
    drawing, means = random.Random(1), []
    for _ in range(2000):
        means.append(sum(drawing.choice(logs) for _ in logs) / len(logs))
    means.sort()
    return {"value": math.exp(sum(logs) / len(logs)), "low": math.exp(means[50]), "high": math.exp(means[1949]), "tasks": len(logs)}


def scores_of(folders, groups):
    """{policy: {k: {task: log best}}} over the evaluations of several groups of tasks."""
    scores = {}
    for group in groups:
        found = last_run(events(folders, group))
        tasks = next((event["task_ids"] for event in found if event["event"] == "start"), [])
        for event in found:
            if event["event"] == "best_of_k":
                scores.setdefault(shown(event["policy"]), {}).setdefault(event["k"], {}).update(zip(tasks, event["log_best"]))
    return scores


def compared(scores, k, one, other):
    a, b = scores.get(one, {}).get(k, {}), scores.get(other, {}).get(k, {})
    common = sorted(set(a) & set(b))
    return interval([a[task] - b[task] for task in common]) if common else None


def best_of_k(scores):
    return [{"policy": policy, "k": k, **interval(list(logs.values()))} for policy, by_k in scores.items() for k, logs in sorted(by_k.items())]


def paired(scores):
    pairs = list(zip(STAGES, STAGES[1:])) + [(STAGES[0], name) for name in ("RL (GRPO, no exemplars)", "SFT", "untrained", "random", "evolve")]
    return [{"policy": one, "against": other, "k": k, **ratio} for one, other in pairs for k in (1, 2, 4, 8, 16)
            if (ratio := compared(scores, k, one, other))]


def analyses(folders, groups):
    return [{**{name: value for name, value in event.items() if name not in ("event", "stage", "time")}, "policy": shown(event["policy"])}
            for group in groups for event in last_run(events(folders, group)) if event["event"] == "analysis"]


def random_reference(folders):
    """{task: scores of all random trials of sessions}, and the best of 256 where the evaluation got through."""
    sessions, best = {}, {}
    for event in last_run(events(folders, "random")):
        if event["event"] == "session" and event["policy"] == "random":
            sessions.setdefault(event["task"], []).append(event["scores"])
        if event["event"] == "reference":
            best = {task: math.log(value) for task, value in event["by_task"].items()}
    return sessions, best


def expected_best(scores, k):
    """Mean log of the best of k of these trials drawn without replacement; a task's best starts at 1."""
    logs, count = sorted(math.log(max(1.0, score)) for score in scores), len(scores)
    return sum(log * math.comb(i, k - 1) for i, log in enumerate(logs)) / math.comb(count, k) if count >= k else None


def throughput(folders):
    steps = [event for event in events(folders, "run") if event["event"] == "step" and event["stage"] == "rl"]
    result = {}
    if steps:
        seconds = sum(step["seconds"] for step in steps)
        result["rl_verified_per_s"] = sum(step["verified_per_s"] * step["seconds"] for step in steps) / seconds
        result["rl_steps"] = len(steps)
    for done in (event for event in events(folders, "collect") if event["event"] == "done"):
        result["collect_measured_per_s"] = done["candidates_per_s"]
    for folder in folders:
        if os.path.exists(os.path.join(folder, "naive.json")):
            with open(os.path.join(folder, "naive.json")) as text:
                result["naive"] = json.load(text)
        for path in sorted(glob.glob(os.path.join(folder, "busy.*.csv"))):
            with open(path) as lines:
                busy = [float(line.split(",")[2]) for line in lines if line.count(",") >= 3]
            if busy:
                result.setdefault("gpu_utilisation", {})[os.path.basename(path)] = {
                    "mean": sum(busy) / len(busy), "idle_share": sum(value < 1 for value in busy) / len(busy), "samples": len(busy)}
    return result


def adversary(folders):
    attempts = [event for event in events(folders, "adversary") if event["event"] == "adversary"]
    cheats = [event for event in attempts if not event["honest"]]
    return {"attempts": len(cheats), "rewarded": sum(event["rewarded"] for event in cheats), "honest": len(attempts) - len(cheats),
            "honest_verified": sum(event["honest"] and event["outcome"] == "verified" for event in attempts),
            "outcomes": {name: sum(event["outcome"] == name for event in cheats) for name in sorted({e["outcome"] for e in cheats})},
            "rewarded_cases": [event["case"] for event in cheats if event["rewarded"]]}


def print_evaluation(name, evaluation):
    ks = sorted({entry["k"] for entry in evaluation["best_of_k"]})
    cells = {(e["policy"], e["k"]): f"{e['value']:.3f} [{e['low']:.3f}, {e['high']:.3f}]" for e in evaluation["best_of_k"]}
    print(f"\n{name}, {evaluation['best_of_k'][0]['tasks']} tasks\n\n| policy | " + " | ".join(f"best of {k}" for k in ks) + " |\n|---|" + "---|" * len(ks))
    for policy in dict.fromkeys(entry["policy"] for entry in evaluation["best_of_k"]):
        print(f"| {policy} | " + " | ".join(cells.get((policy, k), "") for k in ks) + " |")
    for pair in evaluation["paired"]:
        if pair["k"] in (1, 4):
            print(f"{pair['policy']} / {pair['against']} at {pair['k']}: {pair['value']:.3f} [{pair['low']:.3f}, {pair['high']:.3f}]")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    folders, result = arguments.folders, {}
    for name, groups in EVALUATIONS.items():
        if scores := scores_of(folders, groups):
            result[name] = {"best_of_k": best_of_k(scores), "paired": paired(scores), "analysis": analyses(folders, groups)}
    sessions, best = random_reference(folders)
    trials = {task: [score for session in lists for score in session] for task, lists in sessions.items()}
    result["random_trials"] = {task: len(all_scores) for task, all_scores in trials.items()}
    few = scores_of(folders, ["random"])
    few["random search, expected"] = {k: {task: value for task, all_scores in trials.items() if (value := expected_best(all_scores, k)) is not None}
                                      for k in (1, 2, 4, 8, 16, 32, 64)}
    result["share_of_256_random"] = []
    for policy, by_k in few.items():
        for k, logs in sorted(by_k.items()):
            common = sorted(set(logs) & set(best))
            if common:
                result["share_of_256_random"].append({"policy": policy, "k": k, "best_of_k": interval([logs[t] for t in common]),
                                                      **interval([logs[task] - best[task] for task in common])})
    if best:
        result["best_of_256_random"] = interval(list(best.values()))
    result["throughput"] = throughput(folders)
    result["adversary"] = adversary(folders)
    with open(arguments.out, "w") as file:
        file.write(json.dumps(result, indent=1) + "\n")
    for name in EVALUATIONS:
        if name in result:
            print_evaluation(name, result[name])
    for share in result["share_of_256_random"]:
        print(f"share of 256 random trials: {share['policy']} at {share['k']}: {100 * share['value']:.1f}% [{100 * share['low']:.1f}, {100 * share['high']:.1f}]")
    print(json.dumps({name: result[name] for name in ("throughput", "adversary")}, indent=1))


if __name__ == "__main__":
    main()
