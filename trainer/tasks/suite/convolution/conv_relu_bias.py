"""A 3 x 3 convolution, ReLU, and a learned bias behind it."""
import torch
import torch.nn as nn

batch = 16
channels = 32
filters = 64
side = 56


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = nn.Conv2d(channels, filters, 3, padding=1)
        self.shift = nn.Parameter(torch.randn(filters, 1, 1))

    def forward(self, x):
        return torch.relu(self.conv(x)) + self.shift


def get_inputs():
    return [torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return [channels, filters]
