"""Attention with a positive feature map instead of softmax, evaluated in the quadratic order."""
import torch
import torch.nn as nn

heads = 32
steps = 1024
width = 64


class Model(nn.Module):
    def forward(self, q, k, v):
        q = nn.functional.elu(q) + 1.0
        k = nn.functional.elu(k) + 1.0
        state = torch.bmm(k.transpose(1, 2), v)
        normaliser = torch.bmm(q, k.sum(dim=1).unsqueeze(-1))
        return torch.bmm(q, state) / normaliser


def get_inputs():
    return [torch.randn(heads, steps, width), torch.randn(heads, steps, width), torch.randn(heads, steps, width)]


def get_init_inputs():
    return []
