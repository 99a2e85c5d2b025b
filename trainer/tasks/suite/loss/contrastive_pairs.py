"""Contrastive loss of two views: all similarities of normalised rows, against the diagonal."""
import torch
import torch.nn as nn

rows = 1024
width = 128


class Model(nn.Module):
    def forward(self, a, b):
        a = nn.functional.normalize(a, dim=1)
        b = nn.functional.normalize(b, dim=1)
        scores = a @ b.t() * 10.0
        return (torch.logsumexp(scores, dim=1) - scores.diagonal()).mean()


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return []
