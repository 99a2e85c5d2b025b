"""EfficientNetV2 S, eight images of 384 pixels."""
import torch
import torch.nn as nn
from torchvision.models import efficientnet_v2_s

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = efficientnet_v2_s(weights=None)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(8, 3, 384, 384).to(DTYPE)]


def get_init_inputs():
    return []
