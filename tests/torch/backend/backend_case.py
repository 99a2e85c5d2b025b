"""What the tests of the backend share: a store of their own, and a case that counts graphs and calls of the operator.

Importing it takes argv[1], the build's bin folder. Needs torch 2.6 or later
(scripts/torch2-root.sh)."""

import os
import sys
import tempfile
import unittest

BIN = sys.argv.pop(1)
sys.path.insert(0, os.path.join(BIN, "torch"))
STORE = tempfile.mkdtemp(prefix="warpwright-store-")
os.environ.update(WARPWRIGHT_STORE=STORE, WARPWRIGHT_RAISE="1", TORCHINDUCTOR_CACHE_DIR=tempfile.mkdtemp(prefix="inductor-"))

import torch  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import warpwright  # noqa: E402
from warpwright import calls, dynamo  # noqa: E402


def leaves(value):
    return [one for one in torch.utils._pytree.tree_leaves(value) if isinstance(one, torch.Tensor)]


class Case(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        torch.manual_seed(0)
        self.calls = 0
        original = calls.Bound.otherwise

        def counted(bound, inputs, sizes):
            self.calls += 1
            return original(bound, inputs, sizes)

        calls.Bound.otherwise = counted
        self.graphs = 0
        look = dynamo.look

        def looked(*given):
            self.graphs += 1
            return look(*given)

        dynamo.look = looked
        self.addCleanup(setattr, dynamo, "look", look)
        self.addCleanup(setattr, calls.Bound, "otherwise", original)

    def compiled(self, model, **options):
        return torch.compile(model, backend=warpwright.backend, options={"warpwright." + key: value for key, value in options.items()})

    def same(self, model, *inputs, compiled=None, train=False):
        model.train(train)
        compiled = compiled or self.compiled(model, force=True)
        with torch.set_grad_enabled(train):
            wanted, got = leaves(model(*inputs)), leaves(compiled(*inputs))
        self.assertEqual(len(wanted), len(got))
        for one, other in zip(wanted, got):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)
            self.assertEqual(one.stride(), other.stride())
        return wanted, got
