import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def rgb_to_linear_rgb(image):
    return torch.where(image > 0.04045, torch.pow(((image + 0.055) / 1.055), 2.4), image / 12.92)


def rgb_to_xyz(image):
    r = image[..., 0, :, :]
    g = image[..., 1, :, :]
    b = image[..., 2, :, :]
    x = 0.412453 * r + 0.357580 * g + 0.180423 * b
    y = 0.212671 * r + 0.715160 * g + 0.072169 * b
    z = 0.019334 * r + 0.119193 * g + 0.950227 * b
    return torch.stack([x, y, z], -3)


def rgb_to_lab(image):
    lin_rgb = rgb_to_linear_rgb(image)
    xyz_im = rgb_to_xyz(lin_rgb)
    xyz_ref_white = torch.tensor([0.95047, 1.0, 1.08883], device=xyz_im.device, dtype=xyz_im.dtype)[..., :, None, None]
    xyz_normalized = torch.div(xyz_im, xyz_ref_white)
    threshold = 0.008856
    power = torch.pow(xyz_normalized.clamp(min=threshold), 1 / 3.0)
    scale = 7.787 * xyz_normalized + 4.0 / 29.0
    xyz_int = torch.where(xyz_normalized > threshold, power, scale)
    x, y, z = xyz_int[..., 0, :, :], xyz_int[..., 1, :, :], xyz_int[..., 2, :, :]
    L = (116.0 * y) - 16.0
    a = 500.0 * (x - y)
    _b = 200.0 * (y - z)
    return torch.stack([L, a, _b], dim=-3)


def lab_to_rgb(image):
    L, a, _b = image.unbind(-3)
    fy = (L + 16.0) / 116.0
    fx = (a / 500.0) + fy
    fz = (fy - (_b / 200.0)).clamp(min=0.0)
    fxyz = torch.stack([fx, fy, fz], dim=-3)
    power = torch.pow(fxyz, 3.0)
    scale = (fxyz - 4.0 / 29.0) / 7.787
    xyz = torch.where(fxyz > 0.2068966, power, scale)
    xyz = xyz * torch.tensor([0.95047, 1.0, 1.08883], device=xyz.device, dtype=xyz.dtype)[..., :, None, None]
    m = xyz.new_tensor([[3.2404813432005266, -1.5371515162713185, -0.4985363261688878],
                        [-0.9692549499965682, 1.8759900014898907, 0.0415559265582928],
                        [0.0556466391351772, -0.2040413383665112, 1.0573110696453443]])
    rgb = torch.einsum("ij,...jhw->...ihw", m, xyz)
    rgb = torch.where(rgb > 0.0031308, 1.055 * torch.pow(rgb.clamp(min=0.0031308), 1 / 2.4) - 0.055, 12.92 * rgb)
    return torch.clamp(rgb, 0.0, 1.0)


class SoftHistogram(nn.Module):
    def __init__(self, bins, vmin, vmax, sigma):
        super().__init__()
        self.vmin, self.delta = vmin, (vmax - vmin) / bins
        self.sigma = sigma
        self.register_buffer("centers", vmin + self.delta * (torch.arange(bins).float() + 0.5))

    def forward(self, x):
        # [B, N] -> [B, bins], sigmoid window as in HistoGAN/DeepHist
        d = torch.unsqueeze(x, 1) - self.centers[None, :, None]
        w = torch.sigmoid(self.sigma * (d + self.delta / 2)) - torch.sigmoid(self.sigma * (d - self.delta / 2))
        h = w.sum(dim=2)
        return h / (h.sum(dim=1, keepdim=True) + 1e-8)


class JointHistogram(nn.Module):
    def __init__(self, bins, lim, gamma):
        super().__init__()
        self.gamma = gamma
        self.register_buffer("centers", torch.linspace(-lim, lim, bins))

    def forward(self, u, v, weight):
        ku = 1 / (1 + (u[..., None] - self.centers).div(self.gamma).square())
        kv = 1 / (1 + (v[..., None] - self.centers).div(self.gamma).square())
        h = torch.bmm((weight[..., None] * ku).transpose(1, 2), kv)
        return h / h.sum(dim=(1, 2), keepdim=True)


class Model(nn.Module):
    """Color transfer in Lab: Reinhard statistics, then the mismatch by soft CDFs, a joint ab histogram and Delta E 94."""

    def __init__(self, bins, ab_bins, strength):
        super().__init__()
        self.strength = strength
        self.hist_L = SoftHistogram(bins, 0.0, 100.0, 3.0)
        self.joint = JointHistogram(ab_bins, 110.0, 8.0)

    def forward(self, content, style, mask):
        lab_c, lab_s = rgb_to_lab(content), rgb_to_lab(style)
        m = mask.to(lab_c.dtype)
        cnt = m.sum(dim=(-2, -1), keepdim=True).clamp(min=1.0)
        mu_c = (lab_c * m).sum(dim=(-2, -1), keepdim=True) / cnt
        var_c = ((lab_c - mu_c).pow(2) * m).sum(dim=(-2, -1), keepdim=True) / cnt
        sd_s, mu_s = torch.std_mean(lab_s, dim=(-2, -1), keepdim=True)
        moved = (lab_c - mu_c) * (sd_s / (var_c + 1e-6).sqrt()) + mu_s
        lab_o = torch.where(mask, torch.lerp(lab_c, moved, self.strength), lab_c)
        lab_o[:, 0].clamp_(0.0, 100.0)
        out = lab_to_rgb(lab_o)

        sub = lambda t: t[..., ::4, ::4].flatten(2)
        o, s = sub(lab_o), sub(lab_s)
        cdf_o = self.hist_L(o[:, 0]).cumsum(dim=1)
        cdf_s = self.hist_L(s[:, 0]).cumsum(dim=1)
        emd = (cdf_o - cdf_s).abs().mean(dim=1)
        ho = self.joint(o[:, 1], o[:, 2], o[:, 0].sqrt())
        hs = self.joint(s[:, 1], s[:, 2], s[:, 0].clamp(min=0).sqrt())
        hellinger = (ho.clamp(min=1e-12).sqrt() - hs.clamp(min=1e-12).sqrt()).pow(2).sum(dim=(1, 2)).sqrt() / math.sqrt(2)

        dL, da, db = (lab_o - lab_c).unbind(1)
        C1 = torch.hypot(lab_c[:, 1], lab_c[:, 2])
        C2 = torch.hypot(lab_o[:, 1], lab_o[:, 2])
        dC = C2 - C1
        dH2 = (da ** 2 + db ** 2 - dC ** 2).clamp(min=0)
        dE = (dL ** 2 + (dC / (1 + 0.045 * C1)) ** 2 + dH2 / (1 + 0.015 * C1) ** 2 + 1e-12).sqrt()
        return out, emd, hellinger, dE.mean(dim=(1, 2))


def get_inputs():
    c = torch.rand(4, 3, 512, 512)
    s = torch.rand(4, 3, 512, 512) * torch.tensor([0.9, 0.6, 0.4]).view(1, 3, 1, 1)
    return [c, s, torch.rand(4, 1, 512, 512) > 0.2]


def get_init_inputs():
    return [64, 48, 0.8]
