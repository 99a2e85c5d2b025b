import torch
import torch.nn as nn
import torch.nn.functional as F


class GemmaRMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.randn(dim) * 0.1)

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self._norm(x.float())
        output = output * (1.0 + self.weight.float())
        return output.type_as(x)


class Model(nn.Module):
    """Gemma-2 local attention layer in bfloat16: sandwich norms, logit soft-capping, sliding window."""

    def __init__(self, dim, heads, kv_heads, head_dim, window, softcap=50.0):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        self.window = window
        self.softcap = softcap
        self.scaling = head_dim ** -0.5
        self.pre_norm = GemmaRMSNorm(dim)
        self.post_norm = GemmaRMSNorm(dim)
        self.qkv_proj = nn.Linear(dim, (heads + 2 * kv_heads) * head_dim, bias=False)
        self.o_proj = nn.Linear(heads * head_dim, dim, bias=False)
        inv_freq = 1.0 / (10000.0 ** (torch.arange(0, head_dim, 2).float() / head_dim))
        self.to(torch.bfloat16)
        self.register_buffer("inv_freq", inv_freq, persistent=False)  # stays in fp32

    def rope(self, x):
        t = x.shape[2]
        ang = torch.outer(torch.arange(t, device=x.device, dtype=torch.float32), self.inv_freq)
        cos, sin = ang.cos(), ang.sin()
        a, b = x.float().chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x.dtype)

    def forward(self, x):
        b, t, _ = x.shape
        h = self.pre_norm(x)
        q, k, v = self.qkv_proj(h).split(
            [self.heads * self.head_dim, self.kv_heads * self.head_dim, self.kv_heads * self.head_dim], dim=-1)
        q = q.view(b, t, self.heads, self.head_dim).transpose(1, 2)
        k = k.view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        v = v.view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        q, k = self.rope(q) * self.scaling, self.rope(k)

        rep = self.heads // self.kv_heads
        k = torch.repeat_interleave(k, dim=1, repeats=rep)
        v = torch.repeat_interleave(v, dim=1, repeats=rep)

        scores = torch.matmul(q, k.transpose(2, 3))
        scores = scores / self.softcap
        scores = torch.tanh(scores)
        scores = scores * self.softcap

        all_ones = torch.ones((t, t), dtype=torch.bool, device=x.device)
        keep = torch.tril(all_ones) & torch.triu(all_ones, diagonal=-self.window + 1)
        scores = scores.masked_fill(~keep, -2.3819763e38)
        probs = F.softmax(scores.float(), dim=-1).type_as(q)
        out = torch.matmul(probs, v).transpose(1, 2).contiguous().view(b, t, -1)
        return x + self.post_norm(self.o_proj(out))


BATCH = 2
SEQ = 2048
DIM = 2304
HEADS = 8
KV_HEADS = 4
HEAD_DIM = 256
WINDOW = 512


def get_inputs():
    return [torch.randn(BATCH, SEQ, DIM, dtype=torch.bfloat16)]


def get_init_inputs():
    return [DIM, HEADS, KV_HEADS, HEAD_DIM, WINDOW]
