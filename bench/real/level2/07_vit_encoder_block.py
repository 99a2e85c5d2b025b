"""An encoder block of torchvision's ViT with dropout."""
import torch
import torch.nn as nn
from torchvision.models.vision_transformer import EncoderBlock

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = EncoderBlock(12, 768, 3072, 0.1, 0.1)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 197, 768).to(DTYPE)]


def get_init_inputs():
    return []
