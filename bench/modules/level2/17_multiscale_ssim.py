import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 3
HEIGHT = 512
WIDTH = 512
WINDOW = 11
SIGMA = 1.5
LEVELS = 3


class Model(nn.Module):
    """Multi-scale SSIM between two image batches; one score per image, plus the finest SSIM map."""

    def __init__(self, channels, window, sigma, levels):
        super().__init__()
        coords = torch.arange(window, dtype=torch.float32) - window // 2
        g = torch.exp(-(coords ** 2) / (2 * sigma ** 2))
        g = g / g.sum()
        kernel = g[:, None] * g[None, :]
        self.register_buffer("kernel", kernel.expand(channels, 1, window, window).contiguous())
        weights = torch.tensor([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])[:levels]
        self.register_buffer("weights", weights / weights.sum())
        self.channels = channels
        self.levels = levels
        self.c1 = 0.01 ** 2
        self.c2 = 0.03 ** 2

    def _filter(self, x):
        return F.conv2d(x, self.kernel, groups=self.channels)

    def _ssim(self, x, y):
        mu_x, mu_y = self._filter(x), self._filter(y)
        mu_xx, mu_yy, mu_xy = mu_x * mu_x, mu_y * mu_y, mu_x * mu_y
        s_xx = self._filter(x * x) - mu_xx
        s_yy = self._filter(y * y) - mu_yy
        s_xy = self._filter(x * y) - mu_xy
        cs = (2 * s_xy + self.c2) / (s_xx + s_yy + self.c2)
        ssim = ((2 * mu_xy + self.c1) / (mu_xx + mu_yy + self.c1)) * cs
        return ssim, cs

    def forward(self, pred, target):
        mcs = []
        first = None
        for level in range(self.levels):
            ssim_map, cs_map = self._ssim(pred, target)
            if level == 0:
                first = ssim_map
            if level < self.levels - 1:
                mcs.append(F.relu(cs_map.flatten(1).mean(-1)))
                pred = F.avg_pool2d(pred, 2)
                target = F.avg_pool2d(target, 2)
        mcs.append(F.relu(ssim_map.flatten(1).mean(-1)))
        stacked = torch.stack(mcs, dim=0)
        score = torch.prod(stacked ** self.weights.view(-1, 1), dim=0)
        return score, first


def get_inputs():
    target = torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)
    pred = 0.8 * target + 0.2 * torch.rand(BATCH, CHANNELS, HEIGHT, WIDTH)
    return [pred, target]


def get_init_inputs():
    return [CHANNELS, WINDOW, SIGMA, LEVELS]
