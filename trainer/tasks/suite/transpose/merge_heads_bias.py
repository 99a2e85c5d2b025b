"""Heads merged back into tokens, made contiguous, with a bias."""
import torch
import torch.nn as nn

batch = 8
steps = 512
heads = 12


class Model(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(heads * 64))

    def forward(self, x):
        batch, heads, steps, width = x.shape
        return x.transpose(1, 2).contiguous().view(batch, steps, heads * width) + self.bias


def get_inputs():
    return [torch.randn(batch, heads, steps, 64)]


def get_init_inputs():
    return [heads]
