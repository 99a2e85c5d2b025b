"""One time step of the wave equation on a periodic grid, neighbours by `roll`."""
import torch
import torch.nn as nn

side = 2048


class Model(nn.Module):
    def forward(self, u, before):
        neighbours = torch.roll(u, 1, 0) + torch.roll(u, -1, 0) + torch.roll(u, 1, 1) + torch.roll(u, -1, 1)
        return 2 * u - before + 0.2 * (neighbours - 4 * u)


def get_inputs():
    return [torch.randn(side, side), torch.randn(side, side)]


def get_init_inputs():
    return []
