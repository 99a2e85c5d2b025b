"""A block of ConvNeXt with stochastic depth."""
import torch
import torch.nn as nn
from torchvision.models.convnext import CNBlock

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = CNBlock(192, 1e-6, 0.1)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 192, 28, 28).to(DTYPE)]


def get_init_inputs():
    return []
