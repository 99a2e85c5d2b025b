"""A bottleneck of ResNet-50 that halves the image."""
import torch
import torch.nn as nn
from torchvision.models.resnet import Bottleneck, conv1x1

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        skip = nn.Sequential(conv1x1(256, 512, 2), nn.BatchNorm2d(512))
        self.layer = Bottleneck(256, 128, 2, skip)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 256, 56, 56).to(DTYPE)]


def get_init_inputs():
    return []
