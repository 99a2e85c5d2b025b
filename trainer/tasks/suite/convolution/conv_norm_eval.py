"""Convolution and a fixed normalisation of its channels, as a deployed network has them."""
import torch
import torch.nn as nn

batch = 16
channels = 64
side = 28


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels).eval()

    def train(self, mode=True):
        return super().train(False)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)) + x)


def get_inputs():
    return [torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return [channels]
