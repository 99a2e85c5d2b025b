"""DeepSeek V3's latent attention on a cache of 1024 latent tokens, batch 32, with the 16 of 128 heads that one of eight GPUs computes."""
import torch
import torch.nn as nn

DTYPE = torch.float32
HEADS, PLAIN, ROTATED, LATENT = 16, 128, 64, 512


def rotated(x, cos, sin):
    x = x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)
    low, high = x.chunk(2, -1)
    return x * cos + torch.cat([-high, low], -1) * sin


def rotation(width, position):
    angles = position * 10000.0 ** (-torch.arange(0, width, 2).float() / width)
    both = torch.cat([angles, angles])[None, None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.query_down, self.query_norm = nn.Linear(7168, 1536, bias=False), nn.RMSNorm(1536, eps=1e-6)
        self.query_up = nn.Linear(1536, HEADS * (PLAIN + ROTATED), bias=False)
        self.down, self.norm = nn.Linear(7168, LATENT + ROTATED, bias=False), nn.RMSNorm(LATENT, eps=1e-6)
        self.up, self.out = nn.Linear(LATENT, HEADS * 2 * PLAIN, bias=False), nn.Linear(HEADS * PLAIN, 7168, bias=False)
        self.to(DTYPE)

    def forward(self, x, cos, sin, latents, positions):
        query = self.query_up(self.query_norm(self.query_down(x))).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        plain, turned = query.split([PLAIN, ROTATED], -1)
        latent, position = self.down(x).split([LATENT, ROTATED], -1)
        latents = torch.cat([latents, self.norm(latent)], 1)
        positions = torch.cat([positions, rotated(position, cos, sin)], 1)
        to_keys, to_values = self.up.weight.unflatten(0, (HEADS, -1)).split(PLAIN, 1)
        scores = torch.einsum("bhqn,hnc->bhqc", plain, to_keys) @ latents[:, None].transpose(2, 3)
        scores = scores + rotated(turned, cos[:, None], sin[:, None]) @ positions[:, None].transpose(2, 3)
        shares = torch.softmax(scores * (PLAIN + ROTATED) ** -0.5, -1, dtype=torch.float32).to(x.dtype)
        y = torch.einsum("bhqc,hvc->bqhv", shares @ latents[:, None], to_values)
        return self.out(y.flatten(2)), latents, positions


def get_inputs():
    past = torch.randn(32, 1024, LATENT).to(DTYPE), torch.randn(32, 1024, ROTATED).to(DTYPE)
    return [torch.randn(32, 1, 7168).to(DTYPE), *rotation(ROTATED, 1024), *past]


def get_init_inputs():
    return []
