import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 16
HEIGHT = 720
WIDTH = 1280
KSIZE = 9
SIGMA = 2.0
AMOUNT = 0.8
DTYPE = torch.float16


class Model(nn.Module):
    """RGB -> YCbCr, separable Gaussian unsharp mask on luma, 4:2:0 chroma round trip, back to RGB."""

    def __init__(self, ksize, sigma, amount, dtype):
        super().__init__()
        x = torch.arange(ksize, dtype=torch.float32) - (ksize - 1) / 2
        g = torch.exp(-0.5 * (x / sigma) ** 2)
        g = (g / g.sum()).to(dtype)
        self.register_buffer("kh", g.view(1, 1, 1, -1))
        self.register_buffer("kv", g.view(1, 1, -1, 1))
        fwd = torch.tensor([
            [0.299, 0.587, 0.114],
            [-0.168736, -0.331264, 0.5],
            [0.5, -0.418688, -0.081312],
        ])
        inv = torch.tensor([
            [1.0, 0.0, 1.402],
            [1.0, -0.344136, -0.714136],
            [1.0, 1.772, 0.0],
        ])
        self.register_buffer("to_ycc", fwd.to(dtype))
        self.register_buffer("to_rgb", inv.to(dtype))
        self.amount = nn.Parameter(torch.tensor(amount, dtype=dtype))
        self.pad = ksize // 2

    def forward(self, rgb):
        ycc = torch.einsum("oc,bchw->bohw", self.to_ycc, rgb)
        y, chroma = ycc[:, :1], ycc[:, 1:]
        blur = F.conv2d(F.pad(y, (self.pad, self.pad, 0, 0), mode="reflect"), self.kh)
        blur = F.conv2d(F.pad(blur, (0, 0, self.pad, self.pad), mode="reflect"), self.kv)
        y = (y + self.amount * (y - blur)).clamp(0.0, 1.0)
        small = F.avg_pool2d(chroma, 2)
        chroma = F.interpolate(small, scale_factor=2, mode="bilinear", align_corners=False)
        out = torch.einsum("oc,bchw->bohw", self.to_rgb, torch.cat([y, chroma], dim=1))
        return out.clamp(0.0, 1.0)


def get_inputs():
    return [torch.rand(BATCH, 3, HEIGHT, WIDTH, dtype=DTYPE)]


def get_init_inputs():
    return [KSIZE, SIGMA, AMOUNT, DTYPE]
