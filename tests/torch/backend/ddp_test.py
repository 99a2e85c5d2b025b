#!/usr/bin/env python3
"""DistributedDataParallel under the backend: two processes train a model whose regions run through the operator, and end with the
parameters that eager PyTorch gives.

usage: ddp_test.py BIN      the build's bin folder
"""
import os
import sys
import tempfile
import unittest

import torch
import torch.multiprocessing as multiprocessing
import torch.nn as nn

FOLDER = os.path.join(os.path.abspath(sys.argv.pop(1)), "torch") if len(sys.argv) > 1 else ""
PROCESSES, STEPS = 2, 3


class Model(nn.Module):
    """A class of this file: Dynamo does not compile the forward of torch.nn's own classes where DDP calls it."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x)


def model_of():
    torch.manual_seed(1)
    return Model()


def batch_of(rank, step):
    return torch.randn(8, 16, generator=torch.Generator().manual_seed(100 * rank + step))


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


def work(rank, folder, file, results):
    sys.path.insert(0, folder)
    import warpwright
    from warpwright import dynamo

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=PROCESSES)
    regions, exchanged = [], dynamo.with_plans

    def counted(gm, found, ordered):
        regions.extend(found)
        return exchanged(gm, found, ordered)

    dynamo.with_plans = counted
    # Small buckets: DDP cuts the graph between them, and compiles each part by the backend.
    torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = 500
    model = nn.parallel.DistributedDataParallel(model_of(), bucket_cap_mb=0.001)
    train(torch.compile(model, backend=warpwright.backend, options={"warpwright.force": True}), [batch_of(rank, step) for step in range(STEPS)])
    torch.save({"state": model.module.state_dict(), "regions": len(regions)}, os.path.join(results, str(rank)))
    torch.distributed.destroy_process_group()


class Parallel(unittest.TestCase):
    def test_two_processes_train_as_one_does(self):
        if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
            self.skipTest("this PyTorch has no gloo")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["WARPWRIGHT_STORE"] = os.path.join(folder, "store")
            os.environ["WARPWRIGHT_RAISE"] = "1"
            multiprocessing.spawn(work, (FOLDER, os.path.join(folder, "meeting"), folder), PROCESSES)
            found = [torch.load(os.path.join(folder, str(rank))) for rank in range(PROCESSES)]
        wanted = model_of()
        train(wanted, [torch.cat([batch_of(rank, step) for rank in range(PROCESSES)]) for step in range(STEPS)])
        for one in found:
            self.assertGreater(one["regions"], 1)
            for name, value in wanted.state_dict().items():
                torch.testing.assert_close(one["state"][name], value, atol=1e-5, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
