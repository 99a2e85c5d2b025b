import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 8
residual_channels = 64
skip_channels = 128
cond_channels = 80
length = 8192
dilations = (1, 2, 4, 8, 16, 32)


class CausalConv1d(nn.Conv1d):
    def __init__(self, cin, cout, kernel_size, dilation=1):
        super().__init__(cin, cout, kernel_size, dilation=dilation)
        self.left = (kernel_size - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class ResidualLayer(nn.Module):
    def __init__(self, rc, sc, cc, dilation):
        super().__init__()
        self.dilated = CausalConv1d(rc, 2 * rc, 2, dilation)
        self.cond = nn.Conv1d(cc, 2 * rc, 1, bias=False)
        self.res = nn.Conv1d(rc, rc, 1)
        self.skip = nn.Conv1d(rc, sc, 1)

    def forward(self, x, c):
        h = self.dilated(x) + self.cond(c)
        a, b = h.chunk(2, dim=1)
        z = torch.tanh(a) * torch.sigmoid(b)
        return (x + self.res(z)) * (0.5 ** 0.5), self.skip(z)


class Model(nn.Module):
    """WaveNet residual stack with local conditioning."""

    def __init__(self, rc, sc, cc, dilations):
        super().__init__()
        self.layers = nn.ModuleList([ResidualLayer(rc, sc, cc, d) for d in dilations])
        self.post = nn.Sequential(nn.ReLU(), nn.Conv1d(sc, sc, 1), nn.ReLU(), nn.Conv1d(sc, 30, 1))

    def forward(self, x, c):
        skips = 0
        for layer in self.layers:
            x, s = layer(x, c)
            skips = skips + s
        skips = skips * (1.0 / len(self.layers)) ** 0.5
        return self.post(skips)


def get_inputs():
    return [
        torch.randn(batch_size, residual_channels, length),
        torch.randn(batch_size, cond_channels, length),
    ]


def get_init_inputs():
    return [residual_channels, skip_channels, cond_channels, dilations]
