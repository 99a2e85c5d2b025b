"""A layer of DenseNet."""
import torch
import torch.nn as nn
from torchvision.models.densenet import _DenseLayer

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = _DenseLayer(256, 32, 4, 0.0)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 256, 28, 28).to(DTYPE)]


def get_init_inputs():
    return []
