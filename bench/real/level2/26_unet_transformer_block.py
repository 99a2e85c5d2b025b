"""A transformer block of Stable Diffusion's UNet at 64 by 64 places, an image with and without its text."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32


class Attention(nn.Module):
    def __init__(self, width, context, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(one, width, bias=False) for one in (width, context, context))
        self.out = nn.Linear(width, width)

    def forward(self, x, context):
        query, key, value = self.query(x), self.key(context), self.value(context)
        query, key, value = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in (query, key, value))
        return self.out(F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))


class Model(nn.Module):
    def __init__(self, width=320, context=768, heads=8):
        super().__init__()
        self.norm, self.inward, self.outward = nn.GroupNorm(32, width, eps=1e-6), nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own, self.cross = Attention(width, width, heads), Attention(width, context, heads)
        self.up, self.down = nn.Linear(width, 8 * width), nn.Linear(4 * width, width)
        self.to(DTYPE)

    def forward(self, x, text):
        y = self.inward(self.norm(x)).flatten(2).transpose(1, 2)
        z = self.norms[0](y)
        y = y + self.own(z, z)
        y = y + self.cross(self.norms[1](y), text)
        value, gate = self.up(self.norms[2](y)).chunk(2, -1)
        y = y + self.down(value * F.gelu(gate))
        return x + self.outward(y.transpose(1, 2).unflatten(2, x.shape[2:]))


def get_inputs():
    return [torch.randn(2, 320, 64, 64).to(DTYPE), torch.randn(2, 77, 768).to(DTYPE)]


def get_init_inputs():
    return []
