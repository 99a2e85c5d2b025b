"""GRPO's groups with LoRA on the contrastive prompts of a service, by verl: its command line,
from grpo.toml.

    pip install -r recipes/verl/requirements.txt
    python3 recipes/common/dataset.py --form verl --seeds 4 --to prompts.json
    WARPWRIGHT_URL=http://127.0.0.1:8000 python3 recipes/verl/train.py trainer.total_epochs=1

Further overrides may follow; `--dry-run` first prints the command only.
"""

import os
import pathlib
import sys
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent


def flattened(table, prefix=""):
    """{"a": {"b": 1}} -> {"a.b": 1}"""
    flat = {}
    for name, value in table.items():
        flat.update(flattened(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value})
    return flat


def overrides():
    with open(FOLDER / "grpo.toml", "rb") as file:
        settings = flattened(tomllib.load(file))
    settings["reward.custom_reward_function.path"] = str(FOLDER / "reward.py")
    settings["reward.custom_reward_function.name"] = "compute_score"
    return settings


def command(more=()):
    shown = {True: "true", False: "false"}
    return [sys.executable, "-m", "verl.trainer.main_ppo",
            *(f"{name}={shown[value] if isinstance(value, bool) else value}" for name, value in overrides().items()), *more]


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--dry-run"]:
        print("\n".join(command(arguments[1:])))
    else:
        os.execv(sys.executable, command(arguments))
