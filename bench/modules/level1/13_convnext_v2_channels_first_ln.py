import torch
import torch.nn as nn
import torch.nn.functional as F


class LayerNormCF(nn.Module):
    """LayerNorm over the channel dimension of a (N, C, H, W) tensor."""

    def __init__(self, c, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(c))
        self.bias = nn.Parameter(torch.zeros(c))
        self.eps = eps

    def forward(self, x):
        u = x.mean(1, keepdim=True)
        s = (x - u).pow(2).mean(1, keepdim=True)
        x = (x - u) / torch.sqrt(s + self.eps)
        return self.weight[:, None, None] * x + self.bias[:, None, None]


class GRN(nn.Module):
    """Global response normalisation."""

    def __init__(self, dim):
        super().__init__()
        self.gamma = nn.Parameter(torch.randn(1, 1, 1, dim) * 0.5)
        self.beta = nn.Parameter(torch.randn(1, 1, 1, dim) * 0.1)

    def forward(self, x):
        Gx = torch.norm(x, p=2, dim=(1, 2), keepdim=True)
        Nx = Gx / (Gx.mean(dim=-1, keepdim=True) + 1e-6)
        return self.gamma * (x * Nx) + self.beta + x


class Model(nn.Module):
    """ConvNeXt-V2 block followed by a LayerNorm over (C, H, W)."""

    def __init__(self, dim, height, width):
        super().__init__()
        self.stem_norm = LayerNormCF(dim)
        self.dwconv = nn.Conv2d(dim, dim, kernel_size=7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.act = nn.GELU()
        self.grn = GRN(4 * dim)
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.final_norm = nn.LayerNorm([dim, height, width])

    def forward(self, x):
        x = self.stem_norm(x)
        inp = x
        x = self.dwconv(x)
        x = x.permute(0, 2, 3, 1)
        x = self.norm(x)
        x = self.pwconv1(x)
        x = self.act(x)
        x = self.grn(x)
        x = self.pwconv2(x)
        x = x.permute(0, 3, 1, 2)
        x = inp + x
        return self.final_norm(x)


batch_size = 32
channels = 96
height = 56
width = 56


def get_inputs():
    return [torch.rand(batch_size, channels, height, width) * 2 - 0.5]


def get_init_inputs():
    return [channels, height, width]
