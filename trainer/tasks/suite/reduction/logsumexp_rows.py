"""Log of summed exponentials of each row, with the maximum subtracted by hand."""
import torch
import torch.nn as nn

rows = 4096
cols = 2048


class Model(nn.Module):
    def forward(self, x):
        largest = x.max(dim=-1, keepdim=True).values
        return (x - largest).exp().sum(dim=-1, keepdim=True).log() + largest


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
