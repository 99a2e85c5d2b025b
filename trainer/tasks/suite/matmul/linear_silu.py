"""A linear layer and SiLU, with a scale behind it."""
import torch
import torch.nn as nn

rows = 2048
features = 1024
outputs = 1024


class Model(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        y = self.linear(x)
        return y * torch.sigmoid(y) * 0.5


def get_inputs():
    return [torch.randn(rows, features)]


def get_init_inputs():
    return [features, outputs]
