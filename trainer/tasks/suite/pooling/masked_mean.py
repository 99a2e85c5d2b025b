"""Mean of the token vectors that a mask leaves, normalised."""
import torch
import torch.nn as nn

batch = 64
steps = 128
width = 768


class Model(nn.Module):
    def forward(self, x, mask):
        mask = mask.unsqueeze(-1)
        mean = (x * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1e-6)
        return nn.functional.normalize(mean, dim=-1)


def get_inputs():
    return [torch.randn(batch, steps, width), (torch.rand(batch, steps) > 0.3).float()]


def get_init_inputs():
    return []
