import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 4
C3, C4, C5 = 256, 512, 1024
OUT = 256
H3, W3 = 100, 152
H4, W4 = 50, 76
H5, W5 = 25, 38


class Model(nn.Module):
    """Feature pyramid neck with P6/P7 (RetinaNet style); returns a dict of levels."""

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(c, out_channels, 1) for c in in_channels])
        self.output = nn.ModuleList([nn.Conv2d(out_channels, out_channels, 3, padding=1) for _ in in_channels])
        self.p6 = nn.Conv2d(in_channels[-1], out_channels, 3, stride=2, padding=1)
        self.p7 = nn.Conv2d(out_channels, out_channels, 3, stride=2, padding=1)

    def forward(self, c3, c4, c5):
        feats = [c3, c4, c5]
        laterals = [conv(f) for conv, f in zip(self.lateral, feats)]
        for i in range(len(laterals) - 1, 0, -1):
            size = laterals[i - 1].shape[-2:]
            laterals[i - 1] = laterals[i - 1] + F.interpolate(laterals[i], size=size, mode="nearest")
        outs = [conv(x) for conv, x in zip(self.output, laterals)]
        p6 = self.p6(c5)
        p7 = self.p7(F.relu(p6))
        return {"p3": outs[0], "p4": outs[1], "p5": outs[2], "p6": p6, "p7": p7}


def get_inputs():
    return [
        torch.randn(BATCH, C3, H3, W3),
        torch.randn(BATCH, C4, H4, W4),
        torch.randn(BATCH, C5, H5, W5),
    ]


def get_init_inputs():
    return [[C3, C4, C5], OUT]
