import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
DEEP_CHANNELS = 128
SKIP_CHANNELS = 64
DEEP_H = 80
DEEP_W = 80
SKIP_H = 161
SKIP_W = 163
GROUPS = 8


class DoubleConv(nn.Module):
    def __init__(self, in_ch, out_ch, groups):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(in_ch, out_ch, 3, padding=1, bias=False),
            nn.GroupNorm(groups, out_ch),
            nn.LeakyReLU(0.1),
            nn.Conv2d(out_ch, out_ch, 3, padding=1, bias=False),
            nn.GroupNorm(groups, out_ch),
            nn.LeakyReLU(0.1),
        )

    def forward(self, x):
        return self.net(x)


class AttentionGate(nn.Module):
    def __init__(self, gate_ch, skip_ch, inter_ch):
        super().__init__()
        self.w_g = nn.Conv2d(gate_ch, inter_ch, 1)
        self.w_x = nn.Conv2d(skip_ch, inter_ch, 1)
        self.psi = nn.Conv2d(inter_ch, 1, 1)

    def forward(self, g, x):
        a = F.relu(self.w_g(g) + self.w_x(x))
        return x * torch.sigmoid(self.psi(a))


class Model(nn.Module):
    """Attention U-Net decoder step: transposed conv, pad to the skip's size, gate, concat, double conv."""

    def __init__(self, deep_ch, skip_ch, groups):
        super().__init__()
        self.up = nn.ConvTranspose2d(deep_ch, skip_ch, kernel_size=2, stride=2)
        self.gate = AttentionGate(skip_ch, skip_ch, skip_ch // 2)
        self.conv = DoubleConv(2 * skip_ch, skip_ch, groups)

    def forward(self, deep, skip):
        up = self.up(deep)
        dy = skip.size(2) - up.size(2)
        dx = skip.size(3) - up.size(3)
        up = F.pad(up, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        gated = self.gate(up, skip)
        return self.conv(torch.cat([gated, up], dim=1))


def get_inputs():
    return [
        torch.randn(BATCH, DEEP_CHANNELS, DEEP_H, DEEP_W),
        torch.randn(BATCH, SKIP_CHANNELS, SKIP_H, SKIP_W),
    ]


def get_init_inputs():
    return [DEEP_CHANNELS, SKIP_CHANNELS, GROUPS]
