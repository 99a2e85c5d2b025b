import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 16
channels = 64
height = 127
width = 129


class Model(nn.Module):
    """Spatial pyramid of many kinds of pooling, resized back and fused with a 1x1 convolution."""

    def __init__(self, channels):
        super().__init__()
        self.max_ceil = nn.MaxPool2d(3, stride=2, padding=1, ceil_mode=True)
        self.avg_ceil = nn.AvgPool2d((3, 2), stride=(2, 3), ceil_mode=True, count_include_pad=False)
        self.avg_pad = nn.AvgPool2d(5, stride=1, padding=2, count_include_pad=False)
        self.lp = nn.LPPool2d(2, kernel_size=3, stride=2)
        self.max_dil = nn.MaxPool2d(3, stride=1, dilation=2, return_indices=False)
        self.bins = (1, 2, 3, 6)
        self.fuse = nn.Conv2d(channels * (5 + len(self.bins)), channels, 1)

    def forward(self, x):
        size = x.shape[-2:]
        feats = [
            F.interpolate(self.max_ceil(x), size=size, mode="nearest"),
            F.interpolate(self.avg_ceil(x), size=size, mode="bilinear", align_corners=False),
            x - self.avg_pad(x),
            F.interpolate(self.lp(x), size=size, mode="bilinear", align_corners=True),
            self.max_dil(F.pad(x, (2, 2, 2, 2), value=float("-inf"))),
        ]
        for i, b in enumerate(self.bins):
            if i % 2 == 0:
                p = F.adaptive_avg_pool2d(x, b)
            else:
                p = F.adaptive_max_pool2d(x, (b, b + 1))
            feats.append(F.interpolate(p, size=size, mode="bilinear", align_corners=False))
        return F.relu(self.fuse(torch.cat(feats, dim=1)))


def get_inputs():
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return [channels]
