"""The third stage of ResNet-50, six bottlenecks, 64 images."""
import torch
import torch.nn as nn
from torchvision.models import resnet50

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = resnet50(weights=None).layer3
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(64, 512, 28, 28).to(DTYPE)]


def get_init_inputs():
    return []
