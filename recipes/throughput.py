"""Verdicts per minute of a running service with many clients at once. Prints one JSON line.

    warpwright-train serve --env live --sessions 64 --set environment.in_flight=24
    python3 recipes/throughput.py --url http://127.0.0.1:8000 --clients 32 --seconds 120

Each client answers with moves of the prompt's list, so that the answers compile and differ. Run it
once with one GPU and once with two (`--set 'environment.device="H100"'` uses every such GPU).
"""

import argparse
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "clients" / "python"))
from warpwright_environment import Environment  # noqa: E402


def work(chosen, number, deadline, counts, lock):
    chance = random.Random(number)
    with Environment(chosen.url, token=chosen.token) as environment:
        while time.monotonic() < deadline:
            turn = environment.reset(seed=chance.randrange(1 << 30), answers="moves", turns=4)
            legal = turn.observation["legal"]
            while not turn.done and legal and time.monotonic() < deadline:
                turn = environment.step_moves([chance.choice(legal)])
                with lock:
                    outcome = turn.observation.get("outcome", "not measured")
                    counts[outcome] = counts.get(outcome, 0) + 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=120)
    chosen = parser.parse_args()
    counts, lock = {}, threading.Lock()
    started = time.monotonic()
    threads = [threading.Thread(target=work, args=(chosen, number, started + chosen.seconds, counts, lock))
               for number in range(chosen.clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - started
    print(json.dumps({"clients": chosen.clients, "seconds": round(seconds, 1), "outcomes": counts,
                      "verdicts_per_minute": round(60 * sum(counts.values()) / seconds, 1)}))


if __name__ == "__main__":
    main()
