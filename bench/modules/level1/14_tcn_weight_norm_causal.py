import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class Chomp1d(nn.Module):
    def __init__(self, chomp_size):
        super().__init__()
        self.chomp_size = chomp_size

    def forward(self, x):
        return x[:, :, :-self.chomp_size].contiguous()


class WNLinear(nn.Module):
    """Weight normalisation written out by hand: w = g * v / ||v||."""

    def __init__(self, i, o):
        super().__init__()
        self.v = nn.Parameter(torch.randn(o, i) * 0.05)
        self.g = nn.Parameter(torch.rand(o, 1) + 0.5)
        self.b = nn.Parameter(torch.zeros(o))

    def forward(self, x):
        w = self.g * self.v / self.v.norm(dim=1, keepdim=True)
        return F.linear(x, w, self.b)


class Model(nn.Module):
    """Temporal block of a TCN (weight-normed dilated causal convolutions) plus a weight-normed head."""

    def __init__(self, n_inputs, n_hidden, n_out, kernel_size, dilation):
        super().__init__()
        padding = (kernel_size - 1) * dilation
        self.net = nn.Sequential(
            weight_norm(nn.Conv1d(n_inputs, n_hidden, kernel_size, padding=padding, dilation=dilation)),
            Chomp1d(padding), nn.ReLU(), nn.Dropout(0.0),
            weight_norm(nn.Conv1d(n_hidden, n_hidden, kernel_size, padding=padding, dilation=dilation)),
            Chomp1d(padding), nn.ReLU(), nn.Dropout(0.0),
        )
        self.downsample = nn.Conv1d(n_inputs, n_hidden, 1)
        self.head = WNLinear(n_hidden, n_out)

    def forward(self, x):
        h = F.relu(self.net(x) + self.downsample(x))
        return self.head(h.transpose(1, 2))


BATCH = 16
IN_CH = 128
HID = 192
OUT = 64
LENGTH = 4096
KERNEL = 3
DILATION = 4


def get_inputs():
    return [torch.randn(BATCH, IN_CH, LENGTH)]


def get_init_inputs():
    return [IN_CH, HID, OUT, KERNEL, DILATION]
