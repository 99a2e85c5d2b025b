"""Prompts of a running service as a data set for trainers: one row for each task and seed.

    python3 recipes/common/dataset.py --url http://127.0.0.1:8000 --form trl --to prompts.jsonl

    trl   {"prompt", "task_id"}
    verl  {"data_source", "prompt", "ability", "reward_model", "extra_info"}
    gym   {"responses_create_params": {"input"}, "task_id", "agent_ref"}

"""

import argparse
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
from warpwright_environment import Environment, EnvironmentFailure  # noqa: E402


def row(form, prompt, task, index):
    if form == "trl":
        return {"prompt": prompt, "task_id": task["task_id"]}
    if form == "verl":
        return {"data_source": "warpwright", "prompt": prompt, "ability": task["family"],
                "reward_model": {"style": "rule", "ground_truth": task["task_id"]},
                "extra_info": {"index": index, "split": task["split"]}}
    return {"responses_create_params": {"input": prompt}, "task_id": task["task_id"],
            "agent_ref": {"type": "responses_api_agents", "name": "warpwright_simple_agent"}}


def rows(environment, form, seeds=1, split=None):
    """Tasks that cannot be opened are left out, with their reason on stderr."""
    found = []
    for task in environment.tasks(split):
        for seed in range(seeds):
            try:
                prompt = environment.reset(task_id=task["task_id"], seed=seed).prompt
            except EnvironmentFailure as error:
                print(f"left out: {error}", file=sys.stderr)
                break
            found.append(row(form, prompt, task, len(found)))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token")
    parser.add_argument("--form", choices=["trl", "verl", "gym"], default="trl")
    parser.add_argument("--seeds", type=int, default=1, help="prompts of each task, with other exemplars")
    parser.add_argument("--split")
    parser.add_argument("--to", default="prompts.jsonl")
    chosen = parser.parse_args()
    with Environment(chosen.url, token=chosen.token) as environment:
        lines = [json.dumps(line) + "\n" for line in rows(environment, chosen.form, chosen.seeds, chosen.split)]
    pathlib.Path(chosen.to).write_text("".join(lines))
    print(f"{len(lines)} prompts in {chosen.to}", file=sys.stderr)


if __name__ == "__main__":
    main()
