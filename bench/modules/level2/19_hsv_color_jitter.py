import torch
import torch.nn as nn

BATCH = 16
HEIGHT = 512
WIDTH = 512


def rgb_to_hsv(img):
    r, g, b = img.unbind(dim=-3)
    maxc = torch.max(img, dim=-3).values
    minc = torch.min(img, dim=-3).values
    eqc = maxc == minc
    cr = maxc - minc
    ones = torch.ones_like(maxc)
    s = cr / torch.where(eqc, ones, maxc)
    cr_divisor = torch.where(eqc, ones, cr)
    rc = (maxc - r) / cr_divisor
    gc = (maxc - g) / cr_divisor
    bc = (maxc - b) / cr_divisor
    hr = (maxc == r) * (bc - gc)
    hg = ((maxc == g) & (maxc != r)) * (2.0 + rc - bc)
    hb = ((maxc != g) & (maxc != r)) * (4.0 + gc - rc)
    h = torch.fmod((hr + hg + hb) / 6.0 + 1.0, 1.0)
    return torch.stack((h, s, maxc), dim=-3)


def hsv_to_rgb(img):
    h, s, v = img.unbind(dim=-3)
    i = torch.floor(h * 6.0)
    f = (h * 6.0) - i
    i = i.to(dtype=torch.int32)
    p = torch.clamp(v * (1.0 - s), 0.0, 1.0)
    q = torch.clamp(v * (1.0 - s * f), 0.0, 1.0)
    t = torch.clamp(v * (1.0 - s * (1.0 - f)), 0.0, 1.0)
    i = i % 6
    mask = i.unsqueeze(dim=-3) == torch.arange(6, device=i.device).view(-1, 1, 1)
    a1 = torch.stack((v, q, p, p, t, v), dim=-3)
    a2 = torch.stack((t, v, v, q, p, p), dim=-3)
    a3 = torch.stack((p, p, t, v, v, q), dim=-3)
    a4 = torch.stack((a1, a2, a3), dim=-4)
    return torch.einsum("...ijk,...xijk->...xjk", mask.to(dtype=img.dtype), a4)


class Model(nn.Module):
    """Per-image hue, saturation and value adjustment through HSV (torchvision style)."""

    def __init__(self, max_hue=0.25):
        super().__init__()
        self.max_hue = max_hue

    def forward(self, images, hue, saturation, gamma):
        hsv = rgb_to_hsv(images)
        h, s, v = hsv.unbind(dim=-3)
        h = torch.remainder(h + self.max_hue * (2.0 * hue.view(-1, 1, 1) - 1.0), 1.0)
        s = (s * (0.5 + saturation.view(-1, 1, 1))).clamp(0.0, 1.0)
        v = v.clamp_min(1e-4) ** (0.5 + gamma.view(-1, 1, 1))
        return hsv_to_rgb(torch.stack((h, s, v), dim=-3))


def get_inputs():
    return [
        torch.rand(BATCH, 3, HEIGHT, WIDTH),
        torch.rand(BATCH),
        torch.rand(BATCH),
        torch.rand(BATCH),
    ]


def get_init_inputs():
    return [0.25]
