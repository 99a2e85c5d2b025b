import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """clip_grad_norm_ over several tensors, LARS trust ratio, SGD, EMA by lerp; returns a flat list."""

    def __init__(self, lr, max_norm, decay=0.9, weight_decay=1e-2, trust=0.5):
        super().__init__()
        self.lr, self.max_norm, self.decay = lr, max_norm, decay
        self.weight_decay, self.trust = weight_decay, trust

    def forward(self, w1, w2, w3, b, g1, g2, g3, gb, e1, e2, e3, eb):
        params = [w1, w2, w3, b]
        grads = [g1, g2, g3, gb]
        emas = [e1, e2, e3, eb]
        total_norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads]))
        clip_coef = self.max_norm / (total_norm + 1e-6)
        clip_coef_clamped = torch.clamp(clip_coef, max=1.0)
        grads = [g * clip_coef_clamped for g in grads]
        new_params, new_emas = [], []
        for p, g, e in zip(params, grads, emas):
            if p.dim() > 1:
                g = g.add(p, alpha=self.weight_decay)
                p_norm, g_norm = p.norm(), g.norm()
                ratio = torch.where(g_norm > 0, self.trust * p_norm / g_norm, torch.ones_like(p_norm))
                g = g * ratio
            p = torch.add(p, g, alpha=-self.lr)
            new_params.append(p)
            new_emas.append(torch.lerp(p, e, self.decay))
        return new_params + new_emas + [total_norm]


D1 = 4096
D2 = 4096
D3 = 1024
K = 3
C1 = 512
C2 = 1024
LR = 0.5
MAX_NORM = 1000.0


def get_inputs():
    shapes = [(D1, D2), (D3, D2), (C1, C2, K, K), (D1,)]
    params = [torch.randn(*s) for s in shapes]
    grads = [torch.randn(*s) * (0.5 + torch.rand(1)) for s in shapes]
    emas = [torch.randn(*s) for s in shapes]
    return params + grads + emas


def get_init_inputs():
    return [LR, MAX_NORM]
