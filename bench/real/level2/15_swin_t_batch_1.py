"""Swin tiny, one image."""
import torch
import torch.nn as nn
from torchvision.models import swin_t

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = swin_t(weights=None)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(1, 3, 224, 224).to(DTYPE)]


def get_init_inputs():
    return []
