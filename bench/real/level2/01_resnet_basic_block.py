"""A block of ResNet-18."""
import torch
import torch.nn as nn
from torchvision.models.resnet import BasicBlock

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = BasicBlock(128, 128)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(8, 128, 28, 28).to(DTYPE)]


def get_init_inputs():
    return []
