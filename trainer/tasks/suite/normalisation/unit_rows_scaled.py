"""Rows divided by their length, then scaled by a learned temperature."""
import torch
import torch.nn as nn

rows = 16384
cols = 512


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor([2.5]))

    def forward(self, x):
        return torch.exp(self.temperature) * x / x.norm(dim=-1, keepdim=True).clamp_min(1e-6)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
