"""An inverted residual of MobileNetV3."""
import torch
import torch.nn as nn
from torchvision.models.mobilenetv3 import InvertedResidual, InvertedResidualConfig

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        settings = InvertedResidualConfig(80, 3, 480, 80, True, "HS", 1, 1, 1)
        self.layer = InvertedResidual(settings, nn.BatchNorm2d)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(8, 80, 14, 14).to(DTYPE)]


def get_init_inputs():
    return []
