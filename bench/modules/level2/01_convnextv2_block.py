import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 32
CHANNELS = 192
HEIGHT = 56
WIDTH = 56
EXPANSION = 4
DTYPE = torch.bfloat16


class GRN(nn.Module):
    """Global response normalisation (channels last)."""

    def __init__(self, dim, eps=1e-6, dtype=None):
        super().__init__()
        self.gamma = nn.Parameter(0.5 * torch.randn(1, 1, 1, dim, dtype=dtype))
        self.beta = nn.Parameter(0.1 * torch.randn(1, 1, 1, dim, dtype=dtype))
        self.eps = eps

    def forward(self, x):
        gx = torch.norm(x, p=2, dim=(1, 2), keepdim=True)
        nx = gx / (gx.mean(dim=-1, keepdim=True) + self.eps)
        return self.gamma * (x * nx) + self.beta + x


class Model(nn.Module):
    """ConvNeXt V2 block: depthwise 7x7, LN, MLP with GRN, layer scale, residual."""

    def __init__(self, dim, expansion, dtype):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim, dtype=dtype)
        self.norm = nn.LayerNorm(dim, eps=1e-6, dtype=dtype)
        self.pwconv1 = nn.Linear(dim, expansion * dim, dtype=dtype)
        self.act = nn.GELU()
        self.grn = GRN(expansion * dim, dtype=dtype)
        self.pwconv2 = nn.Linear(expansion * dim, dim, dtype=dtype)
        self.layer_scale = nn.Parameter(0.5 * torch.ones(dim, dtype=dtype))

    def forward(self, x):
        shortcut = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.norm(x)
        x = self.pwconv1(x)
        x = self.act(x)
        x = self.grn(x)
        x = self.pwconv2(x)
        x = self.layer_scale * x
        x = x.permute(0, 3, 1, 2)
        return shortcut + x


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH, dtype=DTYPE)]


def get_init_inputs():
    return [CHANNELS, EXPANSION, DTYPE]
