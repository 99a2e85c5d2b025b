"""A block of SAM's mask decoder, where the tokens of eight prompts and an image's 64 by 64 places attend to each other."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32


class Attention(nn.Module):
    def __init__(self, width, inner, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, inner) for _ in range(3))
        self.out = nn.Linear(inner, width)

    def forward(self, query, key, value):
        query, key, value = self.query(query), self.key(key), self.value(value)
        query, key, value = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in (query, key, value))
        return self.out(F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2))


class Model(nn.Module):
    def __init__(self, width=256, wide=2048):
        super().__init__()
        self.own, self.cross, self.back = Attention(width, width, 8), Attention(width, width // 2, 8), Attention(width, width // 2, 8)
        self.up, self.down = nn.Linear(width, wide), nn.Linear(wide, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.to(DTYPE)

    def forward(self, tokens, image, token_places, image_places):
        placed, keys = tokens + token_places, image + image_places
        tokens = self.norms[0](tokens + self.own(placed, placed, tokens))
        tokens = self.norms[1](tokens + self.cross(tokens + token_places, keys, image))
        tokens = self.norms[2](tokens + self.down(F.relu(self.up(tokens))))
        return tokens, self.norms[3](image + self.back(keys, tokens + token_places, tokens))


def get_inputs():
    return [torch.randn(8, length, 256).to(DTYPE) for length in (7, 4096, 7, 4096)]


def get_init_inputs():
    return []
