"""A bottleneck of RegNet."""
import torch
import torch.nn as nn
from torchvision.models.regnet import ResBottleneckBlock

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = ResBottleneckBlock(208, 208, 1, nn.BatchNorm2d, nn.ReLU, 16, 1.0, 0.25)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 208, 28, 28).to(DTYPE)]


def get_init_inputs():
    return []
