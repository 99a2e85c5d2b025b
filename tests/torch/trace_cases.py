"""Checks of traces for unittest: `check` holds a module against its graph, on the module's inputs.

Where WARPWRIGHT_GRAPH_CHECK names tests/generator's graph_check, all graphs of a class are verified
with it too.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import compare  # noqa: E402
from tracing.errors import Refusal  # noqa: E402

TEMPLATE = """
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, {arguments}):
        {forward}

def get_inputs():
    return [{inputs}]
"""


def source(forward, inputs="torch.randn(3, 4)", init="pass", arguments="x"):
    """A module whose forward is the statements, or `return` of the expression."""
    lines = forward.strip().splitlines()
    if len(lines) == 1 and not lines[0].startswith(("return", "if")):
        lines[0] = "return " + lines[0]
    indented = ["\n        ".join(line.strip("\n") for line in part) for part in (lines, init.strip().splitlines())]
    return TEMPLATE.format(init=indented[1], arguments=arguments, forward=indented[0], inputs=inputs)


class TraceCase(unittest.TestCase):
    graphs = []

    @classmethod
    def setUpClass(cls):
        cls.graphs = []

    @classmethod
    def tearDownClass(cls):
        """Also through the generator's eyes."""
        program = os.environ.get("WARPWRIGHT_GRAPH_CHECK")
        if not program:
            return
        with tempfile.TemporaryDirectory() as folder:
            files = [os.path.join(folder, "%d.json" % i) for i in range(len(cls.graphs))]
            for path, graph in zip(files, cls.graphs):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(graph, file, allow_nan=False)
            told = subprocess.run([program] + files, capture_output=True, text=True, check=False)
            if told.returncode:
                raise AssertionError(told.stderr)

    def check(self, text, ops=None, mode="made", tolerance=1e-4):
        """@param ops what the graph must consist of, besides leaves and constants; None: anything
        @return the trace"""
        traced = compare.compare(text, mode=mode, tolerance=tolerance)
        self.graphs.append(traced)
        found = [node["op"] for node in traced["graph"]["nodes"] if node["op"] not in ("input", "parameter", "constant")]
        if ops is not None:
            self.assertEqual(sorted(found), sorted(ops.split()))
        return traced

    def refused(self, text, words, mode="made"):
        with self.assertRaises(Refusal) as caught:
            compare.compare(text, mode=mode)
        self.assertIn(words, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))
