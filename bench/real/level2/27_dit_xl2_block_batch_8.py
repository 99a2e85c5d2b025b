"""A block of DiT-XL/2 at 16 by 16 places, eight images."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self, width=1152, heads=16):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = (nn.LayerNorm(width, elementwise_affine=False, eps=1e-6) for _ in range(2))
        self.parts, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.modulation = nn.Linear(width, 6 * width)
        self.to(DTYPE)

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(F.silu(condition))[:, None].chunk(6, -1)
        y = self.norm1(x) * (1 + scale1) + shift1
        query, key, value = self.parts(y).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        x = x + gate1 * self.out(F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))
        y = self.norm2(x) * (1 + scale2) + shift2
        return x + gate2 * self.down(F.gelu(self.up(y), approximate="tanh"))


def get_inputs():
    return [torch.randn(8, 256, 1152).to(DTYPE), torch.randn(8, 1152).to(DTYPE)]


def get_init_inputs():
    return []
