"""Means of 3 x 3 windows, then tanh and a shift."""
import torch
import torch.nn as nn

batch = 16
channels = 64
third = 18


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.AvgPool2d(3)

    def forward(self, x):
        return torch.tanh(self.pool(x) * 2.0 - 0.25)


def get_inputs():
    return [torch.randn(batch, channels, 3 * third, 3 * third)]


def get_init_inputs():
    return []
