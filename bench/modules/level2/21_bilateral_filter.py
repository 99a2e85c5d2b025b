import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 3
HEIGHT = 512
WIDTH = 512
RADIUS = 2
SIGMA_SPACE = 1.5
SIGMA_COLOR = 0.15


class Model(nn.Module):
    """Joint bilateral filter: range weights from a guide image, shared across the source's channels."""

    def __init__(self, radius, sigma_space, sigma_color):
        super().__init__()
        self.radius = radius
        self.inv_color = 0.5 / (sigma_color * sigma_color)
        self.inv_space = 0.5 / (sigma_space * sigma_space)

    def forward(self, src, guide):
        r = self.radius
        h, w = src.shape[-2:]
        src_p = F.pad(src, (r, r, r, r), mode="reflect")
        guide_p = F.pad(guide, (r, r, r, r), mode="reflect")
        num = torch.zeros_like(src)
        den = torch.zeros_like(guide[:, :1])
        for dy in range(-r, r + 1):
            for dx in range(-r, r + 1):
                sl = (Ellipsis, slice(r + dy, r + dy + h), slice(r + dx, r + dx + w))
                dist = (guide_p[sl] - guide).pow(2).sum(dim=1, keepdim=True)
                weight = torch.exp(-dist * self.inv_color - (dx * dx + dy * dy) * self.inv_space)
                num = num + weight * src_p[sl]
                den = den + weight
        return num / den


def get_inputs():
    return [torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH), torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [RADIUS, SIGMA_SPACE, SIGMA_COLOR]
