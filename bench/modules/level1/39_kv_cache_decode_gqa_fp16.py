import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """One decoding step with a static KV cache: the caches are cloned, then written in place at a
    per-sequence position; grouped-query attention without expanding K/V. float16."""

    def __init__(self, dim, kv_heads, q_per_kv, head_dim, max_len):
        super().__init__()
        self.kv_heads, self.g, self.hd = kv_heads, q_per_kv, head_dim
        self.wq = nn.Linear(dim, kv_heads * q_per_kv * head_dim, bias=False, dtype=torch.float16)
        self.wk = nn.Linear(dim, kv_heads * head_dim, bias=False, dtype=torch.float16)
        self.wv = nn.Linear(dim, kv_heads * head_dim, bias=False, dtype=torch.float16)
        self.wo = nn.Linear(kv_heads * q_per_kv * head_dim, dim, bias=False, dtype=torch.float16)
        inv = 1.0 / (500000.0 ** (torch.arange(0, head_dim, 2)[: head_dim // 2].float() / head_dim))
        f = torch.outer(torch.arange(max_len).float(), inv)
        self.register_buffer("freqs", torch.stack([f.cos(), f.sin()], dim=-1), persistent=False)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    @staticmethod
    def apply_rotary_emb(x, freqs):
        # gpt-fast: interleaved pairs, fp32 maths;  x (b, h, d), freqs (b, d/2, 2)
        xs = x.float().reshape(*x.shape[:-1], -1, 2)
        f = freqs.unsqueeze(1)
        out = torch.stack([
            xs[..., 0] * f[..., 0] - xs[..., 1] * f[..., 1],
            xs[..., 1] * f[..., 0] + xs[..., 0] * f[..., 1],
        ], -1)
        return out.flatten(2).type_as(x)

    def forward(self, x, k_cache, v_cache, pos):
        b = x.size(0)
        f = self.freqs[pos]
        q = self.apply_rotary_emb(self.wq(x).view(b, self.kv_heads * self.g, self.hd), f)
        k = self.apply_rotary_emb(self.wk(x).view(b, self.kv_heads, self.hd), f)
        v = self.wv(x).view(b, self.kv_heads, self.hd)

        k_cache, v_cache = k_cache.clone(), v_cache.clone()
        rows = torch.arange(b, device=x.device)
        k_cache[rows, :, pos] = k
        v_cache[rows, :, pos] = v

        q = q.view(b, self.kv_heads, self.g, self.hd)
        s = torch.einsum("bhgd,bhsd->bhgs", q, k_cache) * self.hd ** -0.5
        live = torch.arange(k_cache.size(2), device=x.device)[None, :] <= pos[:, None]
        s = s.masked_fill(~live[:, None, None, :], torch.finfo(s.dtype).min)
        p = F.softmax(s, dim=-1, dtype=torch.float32).to(x.dtype)
        o = torch.matmul(p, v_cache).reshape(b, 1, -1)
        return self.wo(o), k_cache, v_cache


BATCH = 16
MAX_LEN = 2048
KV_HEADS = 8
Q_PER_KV = 4
HEAD_DIM = 128
DIM = 4096


def get_inputs():
    return [
        torch.randn(BATCH, 1, DIM, dtype=torch.float16),
        torch.randn(BATCH, KV_HEADS, MAX_LEN, HEAD_DIM, dtype=torch.float16),
        torch.randn(BATCH, KV_HEADS, MAX_LEN, HEAD_DIM, dtype=torch.float16),
        torch.randint(MAX_LEN // 2, MAX_LEN, (BATCH,)),
    ]


def get_init_inputs():
    return [DIM, KV_HEADS, Q_PER_KV, HEAD_DIM, MAX_LEN]
