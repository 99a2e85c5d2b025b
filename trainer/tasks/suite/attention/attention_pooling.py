"""One learned query a model: a softmax over the steps weighs the tokens of each sequence."""
import torch
import torch.nn as nn

batch = 32
steps = 256
width = 512


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Parameter(torch.randn(width) * width**-0.5)

    def forward(self, x):
        weights = torch.softmax(x @ self.query, dim=1)
        return (weights.unsqueeze(-1) * x).sum(dim=1)


def get_inputs():
    return [torch.randn(batch, steps, width)]


def get_init_inputs():
    return [width]
