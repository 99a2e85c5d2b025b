import math

import torch
import torch.nn as nn


def _correction_dim(num_rotations, dim, base, max_pos):
    return (dim * math.log(max_pos / (num_rotations * 2 * math.pi))) / (2 * math.log(base))


def _correction_range(low_rot, high_rot, dim, base, max_pos):
    low = math.floor(_correction_dim(low_rot, dim, base, max_pos))
    high = math.ceil(_correction_dim(high_rot, dim, base, max_pos))
    return max(low, 0), min(high, dim - 1)


def _linear_ramp(lo, hi, dim):
    if lo == hi:
        hi += 0.001
    return torch.clamp((torch.arange(dim, dtype=torch.float32) - lo) / (hi - lo), 0, 1)


class YarnRotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000, scale=4.0, original_max_position_embeddings=512, extrapolation_factor=1.0,
                 attn_factor=1.0, beta_fast=32, beta_slow=1):
        super().__init__()
        pos_freqs = base ** (torch.arange(0, dim, 2).float() / dim)
        inv_extra = 1.0 / pos_freqs
        inv_inter = 1.0 / (scale * pos_freqs)
        low, high = _correction_range(beta_fast, beta_slow, dim, base, original_max_position_embeddings)
        mask = (1 - _linear_ramp(low, high, dim // 2)) * extrapolation_factor
        self.register_buffer("inv_freq", inv_inter * (1 - mask) + inv_extra * mask, persistent=False)
        self.mscale = (0.1 * math.log(scale) + 1.0) * attn_factor

    def forward(self, x, seq_len):
        t = torch.arange(seq_len, device=x.device, dtype=torch.float32)
        freqs = torch.einsum("i,j->ij", t, self.inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        return (emb.cos() * self.mscale)[None, None].to(x.dtype), (emb.sin() * self.mscale)[None, None].to(x.dtype)


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin):
    return (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)


class Model(nn.Module):
    """GPT-NeoX attention with rotary_pct < 1, YaRN-scaled frequencies and a layer norm before it."""

    def __init__(self, hidden_size, num_attention_heads, rotary_pct, max_positions):
        super().__init__()
        self.num_attention_heads = num_attention_heads
        self.head_size = hidden_size // num_attention_heads
        self.rotary_ndims = int(self.head_size * rotary_pct)
        self.input_layernorm = nn.LayerNorm(hidden_size, eps=1e-5, dtype=torch.bfloat16)
        self.query_key_value = nn.Linear(hidden_size, 3 * hidden_size, dtype=torch.bfloat16)
        self.dense = nn.Linear(hidden_size, hidden_size, dtype=torch.bfloat16)
        self.rotary_emb = YarnRotaryEmbedding(self.rotary_ndims)
        self.register_buffer(
            "bias",
            torch.tril(torch.ones((max_positions, max_positions), dtype=torch.bool)).view(1, 1, max_positions, max_positions),
            persistent=False,
        )
        self.norm_factor = self.head_size ** -0.5

    def _attn(self, query, key, value, attention_mask):
        b, h, q_len, d = query.size()
        k_len = key.size(-2)
        causal_mask = self.bias[:, :, k_len - q_len: k_len, :k_len]
        query = query.reshape(b * h, q_len, d)
        key = key.reshape(b * h, k_len, d)
        scores = torch.zeros(b * h, q_len, k_len, dtype=query.dtype, device=key.device)
        scores = torch.baddbmm(scores, query, key.transpose(1, 2), beta=1.0, alpha=self.norm_factor)
        scores = scores.view(b, h, q_len, k_len)
        mask_value = torch.tensor(torch.finfo(scores.dtype).min, dtype=scores.dtype, device=scores.device)
        scores = torch.where(causal_mask, scores, mask_value)
        scores = torch.clamp(scores + attention_mask, min=torch.finfo(scores.dtype).min)
        weights = nn.functional.softmax(scores, dim=-1).to(value.dtype)
        return torch.matmul(weights, value)

    def forward(self, hidden_states, padding_mask):
        residual = hidden_states
        hidden_states = self.input_layernorm(hidden_states)
        qkv = self.query_key_value(hidden_states)
        qkv = qkv.view(qkv.size()[:-1] + (self.num_attention_heads, 3 * self.head_size))
        query = qkv[..., : self.head_size].permute(0, 2, 1, 3)
        key = qkv[..., self.head_size: 2 * self.head_size].permute(0, 2, 1, 3)
        value = qkv[..., 2 * self.head_size:].permute(0, 2, 1, 3)

        query_rot, query_pass = query[..., : self.rotary_ndims], query[..., self.rotary_ndims:]
        key_rot, key_pass = key[..., : self.rotary_ndims], key[..., self.rotary_ndims:]
        cos, sin = self.rotary_emb(value, seq_len=key.shape[-2])
        query_rot, key_rot = apply_rotary_pos_emb(query_rot, key_rot, cos, sin)
        query = torch.cat((query_rot, query_pass), dim=-1)
        key = torch.cat((key_rot, key_pass), dim=-1)

        extended = (1.0 - padding_mask[:, None, None, :].to(query.dtype)) * -10000.0
        out = self._attn(query, key, value, extended)
        out = out.permute(0, 2, 1, 3).contiguous().view(out.size(0), out.size(2), -1)
        return residual + self.dense(out)


batch, seq, hidden, heads = 2, 1024, 1024, 16


def get_inputs():
    mask = torch.ones(batch, seq, dtype=torch.long)
    mask[1, -100:] = 0
    return [torch.randn(batch, seq, hidden, dtype=torch.bfloat16), mask]


def get_init_inputs():
    return [hidden, heads, 0.25, 1024]
