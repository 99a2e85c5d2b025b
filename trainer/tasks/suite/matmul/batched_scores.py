"""Batched products of rows with each other, scaled and clamped."""
import torch
import torch.nn as nn

batch = 32
rows = 256
width = 64


class Model(nn.Module):
    def forward(self, a, b):
        return torch.clamp(torch.bmm(a, b.transpose(1, 2)) * a.shape[-1] ** -0.5, -4.0, 4.0)


def get_inputs():
    return [torch.randn(batch, rows, width), torch.randn(batch, rows, width)]


def get_init_inputs():
    return []
