import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 8192
COLS = 1024
TOPK = 32


class Model(nn.Module):
    """Sort-based row transforms: sparsemax, top-k softmax scattered back, rank normalisation, trimmed mean."""

    def __init__(self, k, temperature=0.7):
        super().__init__()
        self.k = k
        self.temperature = temperature

    def sparsemax(self, z):
        z = z - z.amax(dim=-1, keepdim=True)
        zs, _ = torch.sort(z, dim=-1, descending=True)
        rng = torch.arange(1, z.size(-1) + 1, device=z.device, dtype=z.dtype)
        cum = zs.cumsum(dim=-1)
        support = (1 + rng * zs) > cum
        k = support.sum(dim=-1, keepdim=True)
        tau = (cum.gather(-1, k - 1) - 1) / k.to(z.dtype)
        return torch.clamp(z - tau, min=0)

    def forward(self, logits, values):
        p = self.sparsemax(logits)

        top, idx = torch.topk(logits, self.k, dim=-1)
        gate = F.softmax(top / self.temperature, dim=-1)
        routed = torch.zeros_like(logits).scatter(-1, idx, gate)

        order = torch.argsort(values, dim=-1, stable=True)
        ranks = torch.argsort(order, dim=-1, stable=True)
        uniform = (ranks.to(values.dtype) + 0.5) / values.size(-1)
        gauss = torch.erfinv(2.0 * uniform - 1.0) * 1.4142135623730951

        by_value = torch.gather(logits, -1, order)
        cut = values.size(-1) // 10
        trimmed = by_value[:, cut:-cut].mean(dim=-1)
        return p, (routed * values).sum(-1), gauss, trimmed


def get_inputs():
    return [torch.randn(ROWS, COLS), torch.randn(ROWS, COLS)]


def get_init_inputs():
    return [TOPK]
