import torch
import torch.nn as nn

BATCH = 32
N = 256
K = 320
ITERS = 8
ORDER = 6


class Model(nn.Module):
    """Batched covariance: power iteration, Frobenius-scaled Taylor exponential with squaring, powers, Neumann inverse."""

    def __init__(self, n, iters, order):
        super().__init__()
        self.iters = iters
        self.order = order
        self.register_buffer("v0", torch.ones(n, 1) / n ** 0.5)

    def forward(self, x):
        b, k, n = x.shape
        x = x - x.mean(dim=1, keepdim=True)
        cov = torch.bmm(x.transpose(1, 2), x) / (k - 1)
        eye = torch.eye(n, device=x.device, dtype=x.dtype)

        v = self.v0.expand(b, n, 1)
        for _ in range(self.iters):
            v = torch.bmm(cov, v)
            v = v / v.norm(p=2, dim=1, keepdim=True)
        eig = (v * torch.bmm(cov, v)).sum(dim=(1, 2))

        trace = torch.diagonal(cov, dim1=-2, dim2=-1).sum(-1)
        scaled = -cov / (4.0 * eig.view(-1, 1, 1))
        term = eye.expand_as(scaled)
        expm = term
        for i in range(1, self.order + 1):
            term = torch.bmm(term, scaled) / i
            expm = expm + term
        expm = torch.linalg.matrix_power(expm, 4)

        a = cov / torch.linalg.matrix_norm(cov, ord="fro", keepdim=True)
        neumann = eye + a @ (eye + a @ (eye + a))
        effective_rank = trace / eig
        return expm, neumann, v.squeeze(-1) * eig.sqrt().unsqueeze(-1), effective_rank


def get_inputs():
    return [torch.randn(BATCH, K, N) + 0.3]


def get_init_inputs():
    return [N, ITERS, ORDER]
