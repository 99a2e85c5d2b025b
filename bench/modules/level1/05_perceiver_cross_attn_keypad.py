import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Perceiver resampler step: learned latents attend a padded context (nn.MultiheadAttention, kdim/vdim)."""

    def __init__(self, num_latents, latent_dim, context_dim, num_heads, ff_mult=4):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(1, num_latents, latent_dim) * 0.02)
        self.norm_latents = nn.LayerNorm(latent_dim)
        self.norm_context = nn.LayerNorm(context_dim)
        self.cross = nn.MultiheadAttention(latent_dim, num_heads, dropout=0.0, kdim=context_dim,
                                           vdim=context_dim, batch_first=True)
        self.ff = nn.Sequential(
            nn.LayerNorm(latent_dim),
            nn.Linear(latent_dim, latent_dim * ff_mult, bias=False),
            nn.GELU(),
            nn.Linear(latent_dim * ff_mult, latent_dim, bias=False),
        )
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    def forward(self, context, valid):
        # valid: bool, True where the context token is real
        lat = self.latents.expand(context.size(0), -1, -1)
        ctx = self.norm_context(context)
        out, weights = self.cross(self.norm_latents(lat), ctx, ctx, key_padding_mask=~valid,
                                  need_weights=True, average_attn_weights=True)
        lat = lat + out
        lat = lat + self.ff(lat)
        return lat, weights


batch_size = 16
num_latents = 256
context_len = 2048
latent_dim = 512
context_dim = 768
num_heads = 8


def get_inputs():
    context = torch.randn(batch_size, context_len, context_dim)
    valid = torch.rand(batch_size, context_len) > 0.2
    return [context, valid]


def get_init_inputs():
    return [num_latents, latent_dim, context_dim, num_heads]
