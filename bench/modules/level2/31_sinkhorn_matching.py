import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 16
N = 512
M = 384
DIM = 64
ITERS = 10


class Model(nn.Module):
    """SuperGlue-style optimal matching: similarity scores, dustbin, log-domain Sinkhorn, mutual confidences."""

    def __init__(self, dim, iters):
        super().__init__()
        self.proj = nn.Linear(dim, dim)
        self.bin_score = nn.Parameter(torch.tensor(1.0))
        self.iters = iters
        self.dim = dim

    def forward(self, desc0, desc1):
        d0 = F.normalize(self.proj(desc0), dim=-1)
        d1 = F.normalize(self.proj(desc1), dim=-1)
        scores = torch.einsum("bnd,bmd->bnm", d0, d1) * (self.dim ** 0.5)
        b, n, m = scores.shape

        bins0 = self.bin_score.expand(b, n, 1)
        bins1 = self.bin_score.expand(b, 1, m)
        alpha = self.bin_score.expand(b, 1, 1)
        couplings = torch.cat([torch.cat([scores, bins0], -1), torch.cat([bins1, alpha], -1)], 1)

        norm = -torch.log(scores.new_tensor(float(n + m)))
        log_mu = torch.cat([norm.expand(n), scores.new_tensor([float(m)]).log() + norm])
        log_nu = torch.cat([norm.expand(m), scores.new_tensor([float(n)]).log() + norm])
        log_mu, log_nu = log_mu[None].expand(b, -1), log_nu[None].expand(b, -1)

        u, v = torch.zeros_like(log_mu), torch.zeros_like(log_nu)
        for _ in range(self.iters):
            u = log_mu - torch.logsumexp(couplings + v.unsqueeze(1), dim=2)
            v = log_nu - torch.logsumexp(couplings + u.unsqueeze(2), dim=1)
        Z = couplings + u.unsqueeze(2) + v.unsqueeze(1) - norm

        inner = Z[:, :-1, :-1]
        conf0 = inner.max(2).values.exp()
        conf1 = inner.max(1).values.exp()
        return Z, conf0, conf1


def get_inputs():
    return [torch.randn(BATCH, N, DIM), torch.randn(BATCH, M, DIM)]


def get_init_inputs():
    return [DIM, ITERS]
