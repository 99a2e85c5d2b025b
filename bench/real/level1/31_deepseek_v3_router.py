"""DeepSeek V3's router for 1024 tokens: the best four of eight groups of experts, then the best eight experts in them."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32
EXPERTS, GROUPS = 256, 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(EXPERTS, 7168) * 7168 ** -0.5)
        self.register_buffer("bias", torch.randn(EXPERTS) * 0.02)
        self.to(DTYPE)

    def forward(self, x):
        scores = F.linear(x.float(), self.weight.float()).sigmoid()
        biased = scores + self.bias.float()
        of_groups = biased.unflatten(1, (GROUPS, -1)).topk(2, -1)[0].sum(-1)
        groups = torch.zeros_like(of_groups).scatter(1, of_groups.topk(4, -1, sorted=False)[1], 1)
        kept = groups[..., None].expand(-1, -1, EXPERTS // GROUPS).flatten(1)
        chosen = biased.masked_fill(kept == 0, 0.0).topk(8, -1)[1]
        weights = scores.gather(1, chosen)
        return torch.zeros_like(scores).scatter(1, chosen, weights / (weights.sum(-1, keepdim=True) + 1e-20) * 2.5)


def get_inputs():
    return [torch.randn(1024, 7168).to(DTYPE)]


def get_init_inputs():
    return []
