"""Triplet loss from squared distances of rows."""
import torch
import torch.nn as nn

rows = 8192
width = 256


class Model(nn.Module):
    def forward(self, anchor, same, other):
        near = ((anchor - same) ** 2).sum(dim=1)
        far = ((anchor - other) ** 2).sum(dim=1)
        return torch.relu(near - far + 1.0).mean()


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return []
