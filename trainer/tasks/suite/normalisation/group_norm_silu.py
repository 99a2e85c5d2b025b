"""Group normalisation and SiLU of images, eight channels a group."""
import torch
import torch.nn as nn

batch = 16
groups = 16
side = 56


class Model(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, 8 * groups)

    def forward(self, x):
        return nn.functional.silu(self.norm(x))


def get_inputs():
    return [torch.randn(batch, 8 * groups, side, side)]


def get_init_inputs():
    return [groups]
