"""A loop over `warpwright-train serve` with a model that is a script: it answers with the
search's own moves.

    warpwright-train serve --env live --set 'environment.device="cpu"' --reward verified
    PYTHONPATH=clients/python python3 examples/environment/scripted_model.py http://127.0.0.1:8000

"""

import random
import sys

from warpwright_environment import Environment

EPISODES, TURNS = 4, 3


def answer(legal, seed):
    """Stands for a language model: reads the legal moves of the prompt, and chooses one."""
    return [random.Random(seed).choice(legal)]


def main(url):
    rewards = []
    with Environment(url) as environment:
        print(environment.get("/metadata")["name"], "has", len(environment.tasks()), "tasks")
        for episode in range(EPISODES):
            turn = environment.reset(seed=episode, turns=TURNS, answers="moves")
            while not turn.done and turn.observation["legal"]:
                turn = environment.step_moves(answer(turn.observation["legal"], episode))
                seen = turn.observation
                print(seen["task_id"], seen.get("outcome"), "speedup", seen.get("speedup"), "reward", turn.reward)
                if turn.reward is not None:  # None: nothing was measured, so there is nothing to learn
                    rewards.append(turn.reward)
    print(f"mean reward {sum(rewards) / len(rewards):.3f} of {len(rewards)} answers")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000")
