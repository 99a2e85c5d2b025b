"""A layer of SAM's ViT-B encoder with windows of 14 by 14 places and relative positions, one image."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32
WIDTH, HEADS, WINDOW, SIZE = 768, 12, 14, 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=1e-6), nn.LayerNorm(WIDTH, eps=1e-6)
        self.parts, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.rows, self.columns = (nn.Parameter(torch.randn(2 * WINDOW - 1, WIDTH // HEADS) * 0.02) for _ in range(2))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.register_buffer("distance", torch.arange(WINDOW)[:, None] - torch.arange(WINDOW)[None] + WINDOW - 1, persistent=False)
        self.to(DTYPE)

    def attention(self, x):
        """Of windows, a batch."""
        query, key, value = self.parts(x.flatten(1, 2)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        places = query.unflatten(2, (WINDOW, WINDOW))
        rows = torch.einsum("bnhwc,hkc->bnhwk", places, self.rows[self.distance])
        columns = torch.einsum("bnhwc,wkc->bnhwk", places, self.columns[self.distance])
        bias = (rows[..., :, None] + columns[..., None, :]).flatten(4).flatten(2, 3)
        y = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return self.out(y.transpose(1, 2).flatten(2)).unflatten(1, (WINDOW, WINDOW))

    def forward(self, x):
        padding = -SIZE % WINDOW
        count = (SIZE + padding) // WINDOW
        y = F.pad(self.norm1(x), (0, 0, 0, padding, 0, padding))
        y = y.unflatten(1, (count, WINDOW)).unflatten(3, (count, WINDOW)).transpose(2, 3).flatten(0, 2)
        y = self.attention(y).unflatten(0, (-1, count, count)).transpose(2, 3).flatten(3, 4).flatten(1, 2)
        x = x + y[:, :SIZE, :SIZE]
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def get_inputs():
    return [torch.randn(1, SIZE, SIZE, WIDTH).to(DTYPE)]


def get_init_inputs():
    return []
