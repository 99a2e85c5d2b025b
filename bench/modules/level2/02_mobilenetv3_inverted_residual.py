import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 32
in_channels = 40
expand_channels = 240
height = 56
width = 56


def make_divisible(v, divisor=8):
    new_v = max(divisor, int(v + divisor / 2) // divisor * divisor)
    if new_v < 0.9 * v:
        new_v += divisor
    return new_v


class SqueezeExcite(nn.Module):
    def __init__(self, channels, reduction=4):
        super().__init__()
        squeezed = make_divisible(channels // reduction)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.relu = nn.ReLU(inplace=True)
        self.hsig = nn.Hardsigmoid()

    def forward(self, x):
        s = self.avgpool(x)
        s = self.relu(self.fc1(s))
        s = self.hsig(self.fc2(s))
        return x * s


class Model(nn.Module):
    """MobileNetV3 inverted residual with squeeze-excite; batch norms use batch statistics when training."""

    def __init__(self, inp, hidden, kernel_size=5):
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(inp, hidden, 1, bias=False),
            nn.BatchNorm2d(hidden, eps=1e-3, momentum=0.01),
            nn.Hardswish(inplace=True),
            nn.Conv2d(hidden, hidden, kernel_size, padding=kernel_size // 2, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden, eps=1e-3, momentum=0.01),
            nn.Hardswish(inplace=True),
            SqueezeExcite(hidden),
            nn.Conv2d(hidden, inp, 1, bias=False),
            nn.BatchNorm2d(inp, eps=1e-3, momentum=0.01),
        )

    def forward(self, x):
        return x + self.block(x)


def get_inputs():
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, expand_channels]
