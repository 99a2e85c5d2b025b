"""Two linear layers with GELU between them and a residual around them."""
import torch
import torch.nn as nn

rows = 4096
width = 256


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(x)))


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width]
