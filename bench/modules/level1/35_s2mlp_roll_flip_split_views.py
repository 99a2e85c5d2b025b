import torch
import torch.nn as nn
import torch.nn.functional as F


def spatial_shift1(x):
    a, b, c, d = torch.tensor_split(x, 4, dim=-1)
    return torch.cat([torch.roll(a, 1, 1), torch.roll(b, -1, 1), torch.roll(c, 1, 2), torch.roll(d, -1, 2)], dim=-1)


def spatial_shift2(x):
    # the same on the transposed picture, which is only a view
    return spatial_shift1(x.transpose(1, 2)).transpose(1, 2)


class SplitAttention(nn.Module):
    def __init__(self, channel, k=3):
        super().__init__()
        self.k = k
        self.mlp1 = nn.Linear(channel, channel, bias=False)
        self.gelu = nn.GELU()
        self.mlp2 = nn.Linear(channel, channel * k, bias=False)
        self.softmax = nn.Softmax(1)

    def forward(self, x_all):
        b, k, h, w, c = x_all.shape
        x_all = x_all.reshape(b, k, -1, c)
        a = torch.sum(torch.sum(x_all, 1), 1) / (h * w)
        hat_a = self.mlp2(self.gelu(self.mlp1(a)))
        hat_a = hat_a.reshape(b, self.k, c)
        bar_a = self.softmax(hat_a).unsqueeze(-2)
        out = torch.sum(bar_a * x_all, dim=1)
        return out.reshape(b, h, w, c)


class Model(nn.Module):
    """S2-MLPv2 block over an NCHW tensor kept as an NHWC view, with flips and a non-contiguous output."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels)
        self.mlp1 = nn.Linear(channels, channels * 3)
        self.mlp2 = nn.Linear(channels, channels)
        self.split_attention = SplitAttention(channels)

    def forward(self, x):
        x = x.permute(0, 2, 3, 1)
        h = self.mlp1(self.norm(x))
        x1, x2, x3 = h.chunk(3, dim=-1)
        x1 = spatial_shift1(x1)
        x2 = spatial_shift2(x2)
        x3 = 0.5 * (x3 + torch.flip(x3, dims=[1, 2]))
        a = self.split_attention(torch.stack([x1, x2, x3], 1))
        y = x + self.mlp2(a)
        # horizontal running mean from both sides
        n = torch.arange(1, y.size(2) + 1, device=y.device, dtype=y.dtype).view(1, 1, -1, 1)
        fwd = y.cumsum(2) / n
        bwd = y.flip(2).cumsum(2).div(n).flip(2)
        y = y + 0.5 * (fwd - bwd)
        rows = y.unbind(1)
        edge = rows[0] - rows[-1]
        return y.permute(0, 3, 1, 2), edge, y.diagonal(dim1=1, dim2=2)


BATCH = 16
H = 56
W = 48
C = 192


def get_inputs():
    return [torch.randn(BATCH, C, H, W)]


def get_init_inputs():
    return [C]
