"""A candidate's process by its supervisor, without torch: it starts, stands still, goes on and ends. Usage, with the supervisor above it:
runner_supervise FOLDER LIBRARY candidate_starter_test.py FOLDER_OF_HOST_PY"""

import json
import os
import select
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

import candidate_starter

SILENCE_S = 0.2


class Started(unittest.TestCase):
    def setUp(self):
        self.memory = os.memfd_create("memory", 0)
        os.ftruncate(self.memory, 4096)
        self.process = candidate_starter.Started(self.memory, 4096)

    def tearDown(self):
        self.process.end()
        for stream in (self.process.stdin, self.process.stdout):
            stream.close()
        os.close(self.memory)

    def ask(self):
        """A request that needs no torch, as nobody knows its method."""
        body = json.dumps({"id": 1, "method": "nothing", "params": {}}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def answer(self):
        self.assertIn("KeyError", json.loads(self.process.stdout.readline())["error"]["message"])

    def test_it_answers_unless_it_stands_still(self):
        self.ask()
        self.answer()
        for _ in range(3):
            how, _ = self.process.freeze(True)
            self.assertIn(how, ("cgroup", "signals"))
            self.ask()
            self.assertEqual(select.select([self.process.stdout], [], [], SILENCE_S)[0], [])
            self.assertEqual(self.process.freeze(False), (how, False))
            self.answer()

    def test_its_status_is_told(self):
        os.kill(self.process.pid, 9)
        self.assertEqual(self.process.end(), -9)

    def test_one_that_stands_still_can_be_ended(self):
        self.process.freeze(True)
        self.assertEqual(self.process.end(), -9)
        with self.assertRaises(ProcessLookupError):
            os.kill(self.process.pid, 0)

    def test_nothing_else_can_be_started(self):
        with self.assertRaisesRegex(OSError, "no such program"):
            candidate_starter.ask({"start": "/bin/sh"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
