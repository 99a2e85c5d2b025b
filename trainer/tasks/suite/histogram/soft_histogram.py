"""A differentiable histogram of rows: a Gaussian weight of every value to each of 16 centres."""
import torch
import torch.nn as nn

rows = 1024
cols = 512


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("centres", torch.linspace(-2.0, 2.0, 16))

    def forward(self, x):
        distance = x.unsqueeze(-1) - self.centres
        return torch.exp(-8.0 * distance * distance).mean(dim=1)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
