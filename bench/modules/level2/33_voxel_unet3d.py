import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2
CHANNELS = 16
DEPTH = 65
HEIGHT = 96
WIDTH = 96


class ConvBlock3d(nn.Module):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv = nn.Conv3d(cin, cout, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.InstanceNorm3d(cout, affine=True)
        self.act = nn.LeakyReLU(0.01, inplace=True)

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


class Model(nn.Module):
    """nnU-Net like two-level 3D block: strided conv, anisotropic conv, transposed conv with output_padding, trilinear skip."""

    def __init__(self, c):
        super().__init__()
        self.enc = ConvBlock3d(c, c)
        self.down = ConvBlock3d(c, 2 * c, stride=2)
        self.mid = nn.Conv3d(2 * c, 2 * c, (1, 3, 3), padding=(0, 1, 1), groups=2)
        self.up = nn.ConvTranspose3d(2 * c, c, 3, stride=2, padding=1, output_padding=(0, 1, 1))
        self.dec = nn.Conv3d(2 * c, c, 1)
        self.gn = nn.GroupNorm(2, c)

    def forward(self, x):
        e = self.enc(x)
        m = F.gelu(self.mid(self.down(e)))
        up = self.up(m)[..., :e.shape[-3], :e.shape[-2], :e.shape[-1]]
        coarse = F.interpolate(F.avg_pool3d(x, 2), size=e.shape[-3:], mode="trilinear", align_corners=True)
        y = self.dec(torch.cat([e, up], dim=1)) + coarse
        occupancy = torch.sigmoid(F.max_pool3d(y, 3, stride=2, padding=1).mean(dim=1, keepdim=True))
        return self.gn(y), occupancy


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, DEPTH, HEIGHT, WIDTH)]


def get_init_inputs():
    return [CHANNELS]
