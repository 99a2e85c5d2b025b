"""The second stage of Swin tiny, one block with windows and one with shifted windows, 64 images."""
import torch
import torch.nn as nn
from torchvision.models import swin_t

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = swin_t(weights=None).features[3]
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(64, 28, 28, 192).to(DTYPE)]


def get_init_inputs():
    return []
