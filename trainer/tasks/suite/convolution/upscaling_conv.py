"""A transposed convolution that doubles the image, with a leaky activation."""
import torch
import torch.nn as nn

batch = 8
channels = 32
side = 32


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.up = nn.ConvTranspose2d(channels, channels // 2, 4, stride=2, padding=1)

    def forward(self, x):
        return nn.functional.leaky_relu(self.up(x), 0.1)


def get_inputs():
    return [torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return [channels]
