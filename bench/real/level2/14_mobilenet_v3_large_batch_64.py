"""MobileNetV3 large, 64 images."""
import torch
import torch.nn as nn
from torchvision.models import mobilenet_v3_large

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = mobilenet_v3_large(weights=None)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(64, 3, 224, 224).to(DTYPE)]


def get_init_inputs():
    return []
