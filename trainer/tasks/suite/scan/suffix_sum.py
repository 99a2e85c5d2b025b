"""Sums of everything from here to the end of the row: two flips around a cumulative sum."""
import torch
import torch.nn as nn

rows = 4096
cols = 2048


class Model(nn.Module):
    def forward(self, rewards):
        return torch.cumsum(rewards.flip(1), dim=1).flip(1)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
