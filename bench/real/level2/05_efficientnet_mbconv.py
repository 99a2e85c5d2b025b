"""An inverted bottleneck of EfficientNet with squeeze and excitation."""
import torch
import torch.nn as nn
from torchvision.models.efficientnet import MBConv, MBConvConfig

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        settings = MBConvConfig(6, 3, 1, 80, 80, 1)
        self.layer = MBConv(settings, 0.1, nn.BatchNorm2d)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(8, 80, 14, 14).to(DTYPE)]


def get_init_inputs():
    return []
