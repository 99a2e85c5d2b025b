import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 64
HEIGHT = 96
WIDTH = 128
MAX_DISP = 4


class Model(nn.Module):
    """PWC-Net step: warp the second feature map by the flow, then a local correlation volume."""

    def __init__(self, max_displacement):
        super().__init__()
        self.md = max_displacement
        self.refine = nn.Conv2d((2 * max_displacement + 1) ** 2 + 2, 2, 3, padding=1)

    def warp(self, x, flow):
        b, c, h, w = x.shape
        ys = torch.arange(h, device=x.device, dtype=x.dtype)
        xs = torch.arange(w, device=x.device, dtype=x.dtype)
        gy, gx = torch.meshgrid(ys, xs, indexing="ij")
        vx = gx.unsqueeze(0) + flow[:, 0]
        vy = gy.unsqueeze(0) + flow[:, 1]
        vx = 2.0 * vx / max(w - 1, 1) - 1.0
        vy = 2.0 * vy / max(h - 1, 1) - 1.0
        grid = torch.stack((vx, vy), dim=3)
        return F.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=True)

    def forward(self, feat1, feat2, flow):
        warped = self.warp(feat2, flow)
        h, w = feat1.shape[-2:]
        padded = F.pad(warped, [self.md] * 4)
        costs = []
        for dy in range(2 * self.md + 1):
            for dx in range(2 * self.md + 1):
                shifted = padded[:, :, dy:dy + h, dx:dx + w]
                costs.append(torch.mean(feat1 * shifted, dim=1, keepdim=True))
        corr = F.leaky_relu(torch.cat(costs, dim=1), 0.1)
        new_flow = flow + self.refine(torch.cat([corr, flow], dim=1))
        return corr, new_flow


def get_inputs():
    return [
        torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH),
        torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH),
        3.0 * torch.randn(BATCH, 2, HEIGHT, WIDTH),
    ]


def get_init_inputs():
    return [MAX_DISP]
