import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
HEIGHT = 256
WIDTH = 256
FEATURES = 64
BLOCKS = 3
DOWN = 2
UP = 4


class RCAB(nn.Module):
    def __init__(self, nf, reduction):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(nf, nf, 3, padding=1),
            nn.PReLU(nf),
            nn.Conv2d(nf, nf, 3, padding=1),
        )
        self.ca = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(nf, nf // reduction, 1),
            nn.ReLU(),
            nn.Conv2d(nf // reduction, nf, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        r = self.body(x)
        return x + r * self.ca(r)


class Model(nn.Module):
    """Pixel-unshuffle stem, residual channel attention blocks, pixel-shuffle head, bicubic global skip."""

    def __init__(self, nf, blocks, down, up):
        super().__init__()
        self.scale = up // down
        self.unshuffle = nn.PixelUnshuffle(down)
        self.head = nn.Conv2d(3 * down * down, nf, 3, padding=1)
        self.body = nn.Sequential(*[RCAB(nf, 2) for _ in range(blocks)])
        self.tail = nn.Conv2d(nf, 3 * up * up, 3, padding=1)
        self.shuffle = nn.PixelShuffle(up)

    def forward(self, lr):
        x = self.head(self.unshuffle(lr - 0.5))
        x = x + self.body(x)
        x = self.shuffle(self.tail(x))
        base = F.interpolate(lr, scale_factor=self.scale, mode="bicubic", align_corners=False)
        return torch.clamp(base + x, 0.0, 1.0)


def get_inputs():
    return [torch.rand(BATCH, 3, HEIGHT, WIDTH)]


def get_init_inputs():
    return [FEATURES, BLOCKS, DOWN, UP]
