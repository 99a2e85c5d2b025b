"""Largest value over the time steps, then the mean over features of its square."""
import torch
import torch.nn as nn

batch = 64
steps = 128
width = 512


class Model(nn.Module):
    def forward(self, x):
        largest = torch.max(x, dim=1)[0]
        return (largest * largest).mean(dim=-1)


def get_inputs():
    return [torch.randn(batch, steps, width)]


def get_init_inputs():
    return []
