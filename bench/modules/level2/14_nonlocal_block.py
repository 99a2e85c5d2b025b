import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 256
HEIGHT = 48
WIDTH = 48
dtype = torch.bfloat16


class Model(nn.Module):
    """Embedded-Gaussian non-local block with pooled keys and values."""

    def __init__(self, in_channels, sub_sample=True, dtype=torch.bfloat16):
        super().__init__()
        self.inter = in_channels // 2
        self.g = nn.Conv2d(in_channels, self.inter, 1, dtype=dtype)
        self.theta = nn.Conv2d(in_channels, self.inter, 1, dtype=dtype)
        self.phi = nn.Conv2d(in_channels, self.inter, 1, dtype=dtype)
        self.W = nn.Conv2d(self.inter, in_channels, 1, dtype=dtype)
        self.norm = nn.GroupNorm(4, in_channels, dtype=dtype)
        if sub_sample:
            self.g = nn.Sequential(self.g, nn.MaxPool2d(2))
            self.phi = nn.Sequential(self.phi, nn.MaxPool2d(2))

    def forward(self, x):
        b = x.size(0)
        g_x = self.g(x).view(b, self.inter, -1).permute(0, 2, 1)
        theta_x = self.theta(x).view(b, self.inter, -1).permute(0, 2, 1)
        phi_x = self.phi(x).view(b, self.inter, -1)
        f = torch.matmul(theta_x, phi_x)
        f_div_c = F.softmax(f, dim=-1)
        y = torch.matmul(f_div_c, g_x)
        y = y.permute(0, 2, 1).contiguous().view(b, self.inter, *x.size()[2:])
        return self.norm(self.W(y)) + x


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH, dtype=dtype)]


def get_init_inputs():
    return [CHANNELS, True, dtype]
