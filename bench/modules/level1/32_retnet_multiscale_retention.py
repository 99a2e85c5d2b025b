import torch
import torch.nn as nn
import torch.nn.functional as F


def rotate_every_two(x):
    x1 = x[:, :, :, ::2]
    x2 = x[:, :, :, 1::2]
    x = torch.stack((-x2, x1), dim=-1)
    return x.flatten(-2)


def theta_shift(x, sin, cos):
    return (x * cos) + (rotate_every_two(x) * sin)


class Model(nn.Module):
    """RetNet multi-scale retention, parallel form: exponential-decay mask, head-wise RMS norm, swish gate."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.key_dim = dim // heads
        self.scaling = self.key_dim ** -0.5
        self.q_proj = nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, dim, bias=False)
        self.v_proj = nn.Linear(dim, dim * 2, bias=False)
        self.g_proj = nn.Linear(dim, dim * 2, bias=False)
        self.out_proj = nn.Linear(dim * 2, dim, bias=False)
        self.group_norm = nn.LayerNorm(2 * self.key_dim, eps=1e-6, elementwise_affine=False)
        angle = 1.0 / (10000 ** torch.linspace(0, 1, self.key_dim // 2))
        angle = angle.unsqueeze(-1).repeat(1, 2).flatten()
        decay = torch.log(1 - 2 ** (-5 - torch.arange(heads, dtype=torch.float)))
        self.register_buffer("angle", angle)
        self.register_buffer("decay", decay)

    def rel_pos(self, slen):
        index = torch.arange(slen).to(self.decay)
        sin = torch.sin(index[:, None] * self.angle[None, :])
        cos = torch.cos(index[:, None] * self.angle[None, :])
        mask = torch.tril(torch.ones(slen, slen).to(self.decay))
        mask = torch.masked_fill(index[:, None] - index[None, :], ~mask.bool(), float("inf"))
        mask = torch.exp(mask * self.decay[:, None, None])
        mask = torch.nan_to_num(mask)
        mask = mask / mask.sum(dim=-1, keepdim=True).sqrt()
        return (sin, cos), mask

    def forward(self, x):
        bsz, tgt_len, _ = x.size()
        (sin, cos), inner_mask = self.rel_pos(tgt_len)
        q, k, v, g = self.q_proj(x), self.k_proj(x), self.v_proj(x), self.g_proj(x)
        k = k * self.scaling
        q = q.view(bsz, tgt_len, self.heads, self.key_dim).transpose(1, 2)
        k = k.view(bsz, tgt_len, self.heads, self.key_dim).transpose(1, 2)
        qr, kr = theta_shift(q, sin, cos), theta_shift(k, sin, cos)
        vr = v.view(bsz, tgt_len, self.heads, 2 * self.key_dim).transpose(1, 2)
        qk_mat = qr @ kr.transpose(-1, -2)
        qk_mat = qk_mat * inner_mask
        qk_mat = qk_mat / qk_mat.detach().abs().sum(dim=-1, keepdim=True).clamp(min=1, max=5e4)
        output = torch.matmul(qk_mat, vr).transpose(1, 2)
        output = self.group_norm(output).reshape(bsz, tgt_len, -1)
        output = F.silu(g) * output
        return self.out_proj(output)


BATCH = 4
SLEN = 1024
DIM = 1024
HEADS = 8


def get_inputs():
    return [torch.randn(BATCH, SLEN, DIM)]


def get_init_inputs():
    return [DIM, HEADS]
