"""Rows chosen by index, scaled by their weight."""
import torch
import torch.nn as nn

rows = 32768
chosen = 16384
width = 128


class Model(nn.Module):
    def forward(self, x, index, weight):
        return torch.index_select(x, 0, index) * weight.unsqueeze(-1)


def get_inputs():
    return [torch.randn(rows, width), torch.randint(0, rows, (chosen,)), torch.rand(chosen)]


def get_init_inputs():
    return []
