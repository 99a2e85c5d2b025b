"""GELU written out with pow and tanh, as older model code has it."""
import math

import torch
import torch.nn as nn

rows = 4096
cols = 3072


class Model(nn.Module):
    def __init__(self, cols):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(cols) * 0.1)

    def forward(self, x):
        x = x + self.bias
        inner = math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))
        return 0.5 * x * (1.0 + torch.tanh(inner))


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return [cols]
