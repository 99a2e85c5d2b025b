"""Reward function for verl (`custom_reward_function`). verl needs a number. An answer without a
measurement has 0 and `measured` false, so that a filter can skip the sample."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
from rewards import verified  # noqa: E402


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **_):
    answer = verified(ground_truth, solution_str)
    seen = answer.get("warpwright", {})
    return {"score": float(answer["reward"]), "measured": not answer.get("mask_sample", False),
            "verified": seen.get("outcome") == "verified", "speedup": seen.get("speedup", [0.0])[0]}
