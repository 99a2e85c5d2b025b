"""A module by KernelBench's conventions: `Model`, `get_inputs` and `get_init_inputs` need no comment.

    warpwright optimize examples/torch/linear_gelu.py
"""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x)) * 0.5


rows, features, outputs = 1024, 1024, 2048


def get_inputs():
    return [torch.randn(rows, features)]


def get_init_inputs():
    return [features, outputs]
