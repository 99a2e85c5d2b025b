#!/usr/bin/env python3
"""Best of k of every policy on held-out tasks, from the sessions that live evaluations logged, also where one was cut off.

  held_out.py FOLDER... --out held_out.json     folders of scripts/gpu/train.sh's parts

A task's value for k is the mean, over its sessions, of the logarithm of the best of the first k
trials, no less than 0, the unchanged source. Random search has no memory, so that its value is the
mean over all ways to draw k of its trials. Two policies are compared on the tasks that both have.
Intervals are bootstraps over tasks. Standard library only.
"""
import argparse
import glob
import json
import math
import os

from summarise import expected_best, interval, shown

ORDER = ["RL (contrastive)", "RL (GRPO, no exemplars)", "SFT + selfsup", "SFT", "untrained", "random", "evolve"]
SETS = {"held-out families and shapes": ["eval_families_*", "eval_shapes_*"], "held-out families": ["eval_families_*"], "held-out shapes": ["eval_shapes_*"],
        "many trials": ["eval_many_*"]}
KS = (1, 2, 4, 8, 16, 32, 64)


def runs(path):
    """Sessions of each start of an evaluation: {(policy, task): [scores]}."""
    found = []
    with open(path) as lines:
        for line in lines:
            event = json.loads(line) if line.endswith("\n") else {"event": "torn"}
            if event["event"] == "start":
                found.append({})
            if event["event"] == "session" and found:
                found[-1].setdefault((shown(event["policy"]), event["task"]), []).append(event["scores"])
    return found


def sessions(folders, patterns):
    """Of each policy and task the run that has most: a later one repeats the sessions of an earlier one from its verdicts."""
    most = {}
    for folder in folders:
        for pattern in patterns:
            for path in sorted(glob.glob(os.path.join(folder, pattern, "log.jsonl"))):
                for run in runs(path):
                    for key, scores in run.items():
                        if sum(map(len, scores)) >= sum(map(len, most.get(key, []))):
                            most[key] = scores
    return most


def log_best(scores, k):
    return max([0.0, *(math.log(score) for score in scores[:k] if score > 0)])


def values_of(found, k):
    """{policy: {task: value}} where a session had k trials, or found nothing more to try."""
    values = {}
    for (policy, task), lists in found.items():
        if policy == "random":
            value = expected_best([score for scores in lists for score in scores], k)
        else:
            longest = max(len(scores) for kept in found for scores in found[kept] if kept[0] == policy)
            value = sum(log_best(scores, k) for scores in lists) / len(lists) if longest >= k else None
        if value is not None:
            values.setdefault(policy, {})[task] = value
    return values


def judged(found):
    means, pairs = [], []
    for k in KS:
        values = values_of(found, k)
        policies = sorted(values, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
        means += [{"policy": policy, "k": k, **interval(list(values[policy].values()))} for policy in policies]
        for i, one in enumerate(policies):
            for other in policies[i + 1:]:
                common = sorted(set(values[one]) & set(values[other]))
                if common:
                    pairs.append({"policy": one, "against": other, "k": k, "against_k": k, **interval([values[one][t] - values[other][t] for t in common])})
        four = values_of(found, 4).get(ORDER[0], {})
        for other in ("random", "evolve"):  # four trials of the policy against more of a search
            common = sorted(set(four) & set(values.get(other, {})))
            if common and k > 4:
                pairs.append({"policy": ORDER[0], "against": other, "k": 4, "against_k": k, **interval([four[t] - values[other][t] for t in common])})
    return {"best_of_k": means, "paired": pairs}


def share_of_random(found):
    """RL's and the searches' best of k over the best of all random trials of the task."""
    trials = {}
    for (policy, task), lists in found.items():
        if policy == "random":
            trials[task] = [score for scores in lists for score in scores]
    shares = []
    for k in KS:
        for policy, values in values_of(found, k).items():
            common = sorted(set(values) & set(trials))
            if common and policy != "random":
                shares.append({"policy": policy, "k": k, **interval([values[t] - log_best(trials[t], len(trials[t])) for t in common])})
    return {"random_trials": {task: len(scores) for task, scores in trials.items()}, "shares": shares}


def shown_as_table(name, result):
    print(f"\n{name}\n\n| policy | " + " | ".join(f"best of {k}" for k in KS[:5]) + " | tasks |\n" + "|---" * 7 + "|")
    cells = {(e["policy"], e["k"]): e for e in result["best_of_k"]}
    for policy in dict.fromkeys(e["policy"] for e in result["best_of_k"]):
        row = [cells.get((policy, k)) for k in KS[:5]]
        print(f"| {policy} | " + " | ".join(f"{e['value']:.3f} [{e['low']:.3f}, {e['high']:.3f}]" if e else "" for e in row) + f" | {max(e['tasks'] for e in row if e)} |")
    for e in result["paired"]:
        if e["k"] in (1, 4):
            print(f"{e['policy']} at {e['k']} / {e['against']} at {e['against_k']}: {e['value']:.3f} [{e['low']:.3f}, {e['high']:.3f}] on {e['tasks']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    result = {}
    for name, patterns in SETS.items():
        if found := sessions(arguments.folders, patterns):
            result[name] = judged(found)
            shown_as_table(name, result[name])
            if name == "many trials":
                result[name].update(share_of_random(found))
                print(json.dumps(result[name]["random_trials"]), *map(json.dumps, result[name]["shares"]), sep="\n")
    with open(arguments.out, "w") as file:
        file.write(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
