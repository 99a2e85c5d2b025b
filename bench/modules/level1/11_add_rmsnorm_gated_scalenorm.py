import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNormByNorm(nn.Module):
    """x / (||x|| / sqrt(d) + eps), the older spelling (with optional partial statistics)."""

    def __init__(self, d, p=-1.0, eps=1e-8):
        super().__init__()
        self.d, self.p, self.eps = d, p, eps
        self.scale = nn.Parameter(torch.ones(d) + 0.1 * torch.randn(d))

    def forward(self, x):
        if self.p < 0.0 or self.p > 1.0:
            norm_x, d_x = x.norm(2, dim=-1, keepdim=True), self.d
        else:
            partial = int(self.d * self.p)
            px, _ = torch.split(x, [partial, self.d - partial], dim=-1)
            norm_x, d_x = px.norm(2, dim=-1, keepdim=True), partial
        rms_x = norm_x * d_x ** (-1.0 / 2)
        return self.scale * (x / (rms_x + self.eps))


class RMSNormGated(nn.Module):
    """Mamba-2's gated norm, statistics per group."""

    def __init__(self, d, groups, eps=1e-5):
        super().__init__()
        self.groups, self.eps = groups, eps
        self.weight = nn.Parameter(torch.ones(d) + 0.1 * torch.randn(d))

    def forward(self, x, z):
        x = x * F.silu(z)
        shp = x.shape
        xg = x.view(*shp[:-1], self.groups, shp[-1] // self.groups)
        rstd = 1 / torch.sqrt(xg.square().mean(dim=-1, keepdim=True) + self.eps)
        return (xg * rstd).reshape(shp) * self.weight


class ScaleNorm(nn.Module):
    def __init__(self, scale, eps=1e-5):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale))
        self.eps = eps

    def forward(self, x):
        norm = self.scale / torch.norm(x, dim=-1, keepdim=True).clamp(min=self.eps)
        return x * norm


class Model(nn.Module):
    """Residual add followed by a family of hand-written norms; returns (normed, gated, scaled, residual)."""

    def __init__(self, dim, groups):
        super().__init__()
        self.n1 = RMSNormByNorm(dim, p=0.25)
        self.n2 = RMSNormGated(dim, groups)
        self.n3 = ScaleNorm(dim ** 0.5)

    def forward(self, x, residual, gate):
        residual = x + residual
        h = self.n1(residual)
        g = self.n2(h, gate)
        s = self.n3(residual - g)
        return h, g, s, residual


BATCH = 4
SEQ = 2048
DIM = 2560
GROUPS = 8


def get_inputs():
    return [torch.randn(BATCH, SEQ, DIM), torch.randn(BATCH, SEQ, DIM), torch.randn(BATCH, SEQ, DIM)]


def get_init_inputs():
    return [DIM, GROUPS]
