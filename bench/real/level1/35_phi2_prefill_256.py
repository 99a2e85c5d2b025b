"""A decoder layer of Phi-2 over two prompts of 256 tokens: attention and MLP side by side, and 32 of 80 numbers of a head rotated."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32


def rotations(width, length):
    angles = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, width, 2).float() / width))
    both = torch.cat([angles, angles], -1)[None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


def rotated(x, cos, sin):
    turned, rest = x[..., :32], x[..., 32:]
    low, high = turned.chunk(2, -1)
    return torch.cat([turned * cos + torch.cat([-high, low], -1) * sin, rest], -1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(2560)
        self.query, self.key, self.value, self.out = (nn.Linear(2560, 2560) for _ in range(4))
        self.up, self.down = nn.Linear(2560, 10240), nn.Linear(10240, 2560)
        self.to(DTYPE)

    def forward(self, x, cos, sin):
        y = self.norm(x)
        query, key, value = (one(y).unflatten(-1, (32, 80)).transpose(1, 2) for one in (self.query, self.key, self.value))
        query, key = rotated(query, cos[:, None], sin[:, None]), rotated(key, cos[:, None], sin[:, None])
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).flatten(2)
        return x + self.out(attended) + self.down(F.gelu(self.up(y), approximate="tanh"))


def get_inputs():
    return [torch.randn(2, 256, 2560).to(DTYPE), *rotations(32, 256)]


def get_init_inputs():
    return []
