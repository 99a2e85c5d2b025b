"""A dilated convolution over time with a gate: two convolutions of the same input."""
import torch
import torch.nn as nn

batch = 8
channels = 64
steps = 1024


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.filter = nn.Conv1d(channels, channels, 3, dilation=4, padding=4)
        self.gate = nn.Conv1d(channels, channels, 3, dilation=4, padding=4)

    def forward(self, x):
        return x + torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))


def get_inputs():
    return [torch.randn(batch, channels, steps)]


def get_init_inputs():
    return [channels]
