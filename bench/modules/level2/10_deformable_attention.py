import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
D_MODEL = 256
HEADS = 8
POINTS = 4
FEAT_H = 64
FEAT_W = 64
QUERIES = 4096


class Model(nn.Module):
    """Single-level deformable attention (Deformable DETR), sampled with grid_sample."""

    def __init__(self, d_model, n_heads, n_points):
        super().__init__()
        self.n_heads = n_heads
        self.n_points = n_points
        self.head_dim = d_model // n_heads
        self.sampling_offsets = nn.Linear(d_model, n_heads * n_points * 2)
        self.attention_weights = nn.Linear(d_model, n_heads * n_points)
        self.value_proj = nn.Linear(d_model, d_model)
        self.output_proj = nn.Linear(d_model, d_model)
        self._reset()

    def _reset(self):
        nn.init.normal_(self.sampling_offsets.weight, std=0.02)
        thetas = torch.arange(self.n_heads, dtype=torch.float32) * (2.0 * math.pi / self.n_heads)
        grid = torch.stack([thetas.cos(), thetas.sin()], -1)
        grid = grid / grid.abs().max(-1, keepdim=True)[0]
        grid = grid.view(self.n_heads, 1, 2).repeat(1, self.n_points, 1)
        for i in range(self.n_points):
            grid[:, i, :] *= i + 1
        with torch.no_grad():
            self.sampling_offsets.bias.copy_(grid.reshape(-1))

    def forward(self, query, reference_points, feature):
        b, lq, _ = query.shape
        _, c, h, w = feature.shape
        value = self.value_proj(feature.flatten(2).transpose(1, 2))
        value = value.view(b, h * w, self.n_heads, self.head_dim)
        value = value.permute(0, 2, 3, 1).reshape(b * self.n_heads, self.head_dim, h, w)

        offsets = self.sampling_offsets(query).view(b, lq, self.n_heads, self.n_points, 2)
        weights = self.attention_weights(query).view(b, lq, self.n_heads, self.n_points).softmax(-1)

        normalizer = torch.tensor([w, h], dtype=query.dtype, device=query.device)
        loc = reference_points[:, :, None, None, :] + offsets / normalizer
        grid = (2 * loc - 1).transpose(1, 2).flatten(0, 1)
        sampled = F.grid_sample(value, grid, mode="bilinear", padding_mode="border", align_corners=False)
        weights = weights.transpose(1, 2).reshape(b * self.n_heads, 1, lq, self.n_points)
        out = (sampled * weights).sum(-1).view(b, self.n_heads * self.head_dim, lq)
        return self.output_proj(out.transpose(1, 2).contiguous())


def get_inputs():
    return [
        torch.randn(BATCH, QUERIES, D_MODEL),
        torch.rand(BATCH, QUERIES, 2),
        torch.randn(BATCH, D_MODEL, FEAT_H, FEAT_W),
    ]


def get_init_inputs():
    return [D_MODEL, HEADS, POINTS]
