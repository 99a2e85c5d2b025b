import torch
import torch.nn as nn

BATCH = 4
NX = 1024
NY = 1024
ITERS = 10
OMEGA = 0.8


class Model(nn.Module):
    """Weighted Jacobi for -div(k grad u) = f with fixed boundary values; returns u, residual norm and flux."""

    def __init__(self, iters, omega, h):
        super().__init__()
        self.iters = iters
        self.omega = omega
        self.h2 = h * h

    def forward(self, u, f, k):
        ke = 0.5 * (k[:, 1:-1, 1:-1] + k[:, 1:-1, 2:])
        kw = 0.5 * (k[:, 1:-1, 1:-1] + k[:, 1:-1, :-2])
        kn = 0.5 * (k[:, 1:-1, 1:-1] + k[:, :-2, 1:-1])
        ks = 0.5 * (k[:, 1:-1, 1:-1] + k[:, 2:, 1:-1])
        diag = ke + kw + kn + ks
        rhs = self.h2 * f[:, 1:-1, 1:-1]
        u = u.clone()
        for _ in range(self.iters):
            nb = ke * u[:, 1:-1, 2:] + kw * u[:, 1:-1, :-2] + kn * u[:, :-2, 1:-1] + ks * u[:, 2:, 1:-1]
            new = (nb + rhs) / diag
            u[:, 1:-1, 1:-1] = (1.0 - self.omega) * u[:, 1:-1, 1:-1] + self.omega * new
        nb = ke * u[:, 1:-1, 2:] + kw * u[:, 1:-1, :-2] + kn * u[:, :-2, 1:-1] + ks * u[:, 2:, 1:-1]
        res = rhs - (diag * u[:, 1:-1, 1:-1] - nb)
        res_norm = torch.linalg.vector_norm(res, ord=2, dim=(1, 2))
        flux = -k[:, :, :-1] * torch.diff(u, dim=2)
        return u, res_norm, flux


def get_inputs():
    return [
        torch.randn(BATCH, NY, NX),
        torch.randn(BATCH, NY, NX),
        0.5 + torch.rand(BATCH, NY, NX),
    ]


def get_init_inputs():
    return [ITERS, OMEGA, 0.5]
