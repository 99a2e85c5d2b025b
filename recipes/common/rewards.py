"""Rewards of answers from a running service, many at once. An answer without a measurement has
the reward None.

The service is named by WARPWRIGHT_URL and WARPWRIGHT_TOKEN.
"""

import concurrent.futures
import functools
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
from warpwright_environment import Environment  # noqa: E402

AT_ONCE = 32
TRIES = 3  # of an answer that was not measured


@functools.lru_cache(maxsize=None)
def _environment():
    return Environment(os.environ.get("WARPWRIGHT_URL", "http://127.0.0.1:8000"), token=os.environ.get("WARPWRIGHT_TOKEN"))


def verified(task_id, text):
    """NeMo Gym's verify response for one answer. Thread: any."""
    for _ in range(TRIES):
        answer = _environment().verify(task_id, text)
        if answer.get("failure_kind") != "verifier_error":
            break
    return answer


def reward(task_id, text):
    answer = verified(task_id, text)
    return None if answer.get("mask_sample") else answer["reward"]


def rewards(task_ids, texts):
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(reward, task_ids, texts))


def text_of(completion):
    """A completion as text: TRL gives a list of messages for conversational prompts."""
    return completion if isinstance(completion, str) else "".join(message["content"] for message in completion)
