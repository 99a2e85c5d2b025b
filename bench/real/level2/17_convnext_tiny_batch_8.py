"""ConvNeXt tiny, eight images."""
import torch
import torch.nn as nn
from torchvision.models import convnext_tiny

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = convnext_tiny(weights=None)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(8, 3, 224, 224).to(DTYPE)]


def get_init_inputs():
    return []
