"""32 clients at once over lines that break at random: every answer gets one verdict, from one
measurement."""

import collections
import random
import threading
import unittest

from service import SCALE, SHIFT, Service, plan, source
from warpwright_environment import Environment

CLIENTS, EPISODES = 32, 1


def candidate(task, client, episode):
    """A right answer that no other client gives."""
    number = client * EPISODES + episode + 1
    return {"source": f"// {number}\n" + source("y[i] = 2.0f * x[i];" if task == SCALE else "y[i] = x[i] + 1.0f;"), **plan()}


class ManyClients(unittest.TestCase):
    def test_none_is_lost_and_none_is_measured_twice(self):
        rewards, failures = [], []

        def work(service, number):
            chance = random.Random(number)
            try:
                with Environment(service.url, patience_s=240) as environment:
                    for episode in range(EPISODES):
                        task = chance.choice([SCALE, SHIFT])
                        environment.reset(task_id=task, answers="plan", turns=2)
                        for _ in range(2):
                            if chance.random() < 0.3:
                                environment.drop()
                            turn = environment.step_plan(candidate(task, number, episode))
                            rewards.append(turn.reward)
                        self.assertTrue(turn.done)
            except Exception as error:  # the test fails with all of them
                failures.append(f"client {number}: {error!r}")

        with Service("--reward", "verified", "--sessions", "24", "--set", "environment.in_flight=4") as service:
            threads = [threading.Thread(target=work, args=(service, number)) for number in range(CLIENTS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            lines = service.trajectories()
        self.assertEqual(failures, [])
        self.assertEqual(rewards, [1] * (CLIENTS * EPISODES * 2))
        requests = collections.Counter(line["request_id"] for line in lines)
        self.assertEqual(len(requests), CLIENTS * EPISODES * 2)
        self.assertEqual(set(requests.values()), {1})


if __name__ == "__main__":
    unittest.main()
