import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.w1 = nn.Linear(d, f, bias=False)
        self.w2 = nn.Linear(f, d, bias=False)
        self.w3 = nn.Linear(d, f, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Model(nn.Module):
    """DeepSeek-V3 style MoE: sigmoid scores, correction bias, group-limited top-k, gather + one-hot combine,
    shared expert, and the per-expert terms of the sequence balance loss."""

    def __init__(self, d, f, n_routed, n_group, topk_group, top_k, scale=2.5):
        super().__init__()
        self.n_routed, self.n_group, self.topk_group, self.top_k = n_routed, n_group, topk_group, top_k
        self.scale = scale
        self.gate = nn.Linear(d, n_routed, bias=False)
        self.register_buffer("e_score_correction_bias", 0.05 * torch.randn(n_routed))
        self.experts = nn.ModuleList([Expert(d, f) for _ in range(n_routed)])
        self.shared = Expert(d, 2 * f)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.2 * m.in_features ** -0.5)

    def route(self, x):
        scores = self.gate(x).float().sigmoid()
        choice = scores + self.e_score_correction_bias.unsqueeze(0)
        group_scores = choice.view(-1, self.n_group, self.n_routed // self.n_group).topk(2, dim=-1)[0].sum(dim=-1)
        group_idx = torch.topk(group_scores, k=self.topk_group, dim=-1, sorted=False)[1]
        group_mask = torch.zeros_like(group_scores)
        group_mask.scatter_(1, group_idx, 1)
        score_mask = group_mask.unsqueeze(-1).expand(
            -1, self.n_group, self.n_routed // self.n_group).reshape(-1, self.n_routed)
        choice = choice.masked_fill(~score_mask.bool(), 0.0)
        topk_idx = torch.topk(choice, k=self.top_k, dim=-1, sorted=False)[1]
        topk_w = scores.gather(1, topk_idx)
        topk_w = topk_w / (topk_w.sum(dim=-1, keepdim=True) + 1e-20)
        return topk_idx, topk_w * self.scale, scores

    def forward(self, hidden):
        identity = hidden
        shape = hidden.shape
        x = hidden.view(-1, shape[-1])
        idx, w, scores = self.route(x)
        one_hot = F.one_hot(idx, num_classes=self.n_routed).to(w.dtype)       # n k e
        combine = torch.einsum("nke,nk->ne", one_hot, w)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            out = out + combine[:, e:e + 1] * expert(x)
        load = one_hot.sum(1).view(shape[0], shape[1], -1).mean(1) * (self.n_routed / self.top_k)
        prob = (scores / scores.sum(-1, keepdim=True)).view(shape[0], shape[1], -1).mean(1)
        balance = (load * prob).mean(0)
        return out.view(*shape) + self.shared(identity), balance


B = 2
S = 1024
D = 1024
D_EXPERT = 512
N_ROUTED = 16
N_GROUP = 4
TOPK_GROUP = 2
TOP_K = 4


def get_inputs():
    return [torch.randn(B, S, D)]


def get_init_inputs():
    return [D, D_EXPERT, N_ROUTED, N_GROUP, TOPK_GROUP, TOP_K]
