"""Depthwise and pointwise convolution with a clamp of the activation between them."""
import torch
import torch.nn as nn

batch = 16
channels = 64
side = 56


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 3, padding=1, groups=channels, bias=False)
        self.pointwise = nn.Conv2d(channels, 2 * channels, 1)

    def forward(self, x):
        return self.pointwise(nn.functional.relu6(self.depthwise(x)))


def get_inputs():
    return [torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return [channels]
