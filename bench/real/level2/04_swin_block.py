"""A block of Swin with shifted windows and stochastic depth."""
import torch
import torch.nn as nn
from torchvision.models.swin_transformer import SwinTransformerBlock

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = SwinTransformerBlock(192, 6, [7, 7], [3, 3], stochastic_depth_prob=0.1)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 28, 28, 192).to(DTYPE)]


def get_init_inputs():
    return []
