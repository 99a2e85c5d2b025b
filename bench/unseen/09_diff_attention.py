import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def lambda_init_fn(depth):
    return 0.8 - 0.6 * math.exp(-0.3 * depth)


class HeadRMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5, elementwise_affine=True):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim)) if elementwise_affine else None

    def forward(self, x):
        y = x.float()
        y = (y * torch.rsqrt(y.square().mean(dim=-1, keepdim=True) + self.eps)).to(x.dtype)
        return y if self.weight is None else y * self.weight


class Model(nn.Module):
    """Differential attention, output gate on the heads, logits of every head clipped by their max (QK-Clip)."""

    def __init__(self, embed_dim, num_heads, depth, tau):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads // 2
        self.scaling = self.head_dim ** -0.5
        self.tau = tau
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.g_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.lambda_init = lambda_init_fn(depth)
        for n in ("lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"):
            setattr(self, n, nn.Parameter(torch.zeros(self.head_dim).normal_(mean=0, std=0.1)))
        self.subln = HeadRMSNorm(2 * self.head_dim)
        self.to(torch.bfloat16)

    def forward(self, x):
        bsz, tgt_len, embed_dim = x.size()
        q = self.q_proj(x).view(bsz, tgt_len, 2 * self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(bsz, tgt_len, 2 * self.num_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(bsz, tgt_len, self.num_heads, 2 * self.head_dim).transpose(1, 2)

        attn_weights = torch.matmul(q * self.scaling, k.transpose(-1, -2))
        s_max = attn_weights.abs().amax(dim=(-2, -1), keepdim=True).float()
        gamma = torch.clamp(self.tau / s_max, max=1.0)
        attn_weights = attn_weights * gamma.type_as(attn_weights)

        attn_mask = torch.triu(
            torch.zeros([tgt_len, tgt_len], device=x.device).float().fill_(float("-inf")).type_as(attn_weights), 1
        )
        attn_weights = torch.nan_to_num(attn_weights)
        attn_weights += attn_mask
        attn_weights = F.softmax(attn_weights, dim=-1, dtype=torch.float32).type_as(attn_weights)

        lambda_1 = torch.exp(torch.sum(self.lambda_q1 * self.lambda_k1, dim=-1).float()).type_as(q)
        lambda_2 = torch.exp(torch.sum(self.lambda_q2 * self.lambda_k2, dim=-1).float()).type_as(q)
        lambda_full = lambda_1 - lambda_2 + self.lambda_init
        attn_weights = attn_weights.view(bsz, self.num_heads, 2, tgt_len, tgt_len)
        attn_weights = attn_weights[:, :, 0] - lambda_full * attn_weights[:, :, 1]

        attn = torch.matmul(attn_weights, v)
        attn = self.subln(attn)
        attn = attn * (1 - self.lambda_init)
        attn = attn.transpose(1, 2).reshape(bsz, tgt_len, self.num_heads * 2 * self.head_dim)
        attn = attn * torch.sigmoid(self.g_proj(x))
        return self.out_proj(attn)


def get_inputs():
    return [torch.randn(2, 1024, 768).bfloat16()]


def get_init_inputs():
    return [768, 6, 3, 2.0]
