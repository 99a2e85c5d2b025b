import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def fixed_pos_embedding(x):
    seq_len, dim = x.shape
    inv_freq = 1.0 / (10000 ** (torch.arange(0, dim) / dim))
    sinusoid_inp = torch.einsum("i , j -> i j", torch.arange(0, seq_len, dtype=torch.float), inv_freq).to(x)
    return torch.sin(sinusoid_inp), torch.cos(sinusoid_inp)


def rotate_every_two(x):
    x1 = x[:, :, ::2]
    x2 = x[:, :, 1::2]
    x = torch.stack((-x2, x1), dim=-1)
    return x.flatten(-2)


def duplicate_interleave(m):
    """A simple version of `torch.repeat_interleave` for duplicating a matrix while interleaving the copy."""
    dim0 = m.shape[0]
    m = m.view(-1, 1)
    m = m.repeat(1, 2)
    m = m.view(dim0, -1)
    return m


def apply_rotary_pos_emb(x, sin, cos, scale=1):
    sin, cos = map(lambda t: duplicate_interleave(t * scale), (sin, cos))
    return ((x * cos) + (rotate_every_two(x) * sin)).to(x.dtype)


class XPOS(nn.Module):
    def __init__(self, head_dim, scale_base=512):
        super().__init__()
        self.head_dim = head_dim
        self.scale_base = scale_base
        self.register_buffer("scale", (torch.arange(0, head_dim, 2) + 0.4 * head_dim) / (1.4 * head_dim))

    def forward(self, x, offset=0, downscale=False):
        length = x.shape[1]
        min_pos = -(length + offset) // 2
        max_pos = length + offset + min_pos
        scale = self.scale ** torch.arange(min_pos, max_pos, 1).to(self.scale).div(self.scale_base)[:, None]
        sin, cos = fixed_pos_embedding(scale)

        if scale.shape[0] > length:
            scale = scale[-length:]
            sin = sin[-length:]
            cos = cos[-length:]

        if downscale:
            scale = 1 / scale

        return apply_rotary_pos_emb(x, sin, cos, scale)


class SubLayerNormMHA(nn.Module):
    def __init__(self, embed_dim, num_heads, xpos_scale_base):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.scaling = self.head_dim ** -0.5
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=True)
        self.inner_attn_ln = nn.LayerNorm(embed_dim, eps=1e-5)
        self.xpos = XPOS(self.head_dim, xpos_scale_base)
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.xavier_uniform_(self.k_proj.weight, gain=1 / math.sqrt(2))
        nn.init.xavier_uniform_(self.v_proj.weight, gain=1 / math.sqrt(2))
        nn.init.xavier_uniform_(self.q_proj.weight, gain=1 / math.sqrt(2))
        nn.init.xavier_uniform_(self.out_proj.weight)
        nn.init.constant_(self.out_proj.bias, 0.0)

    def forward(self, query, key, value, attn_mask=None):
        bsz, tgt_len, embed_dim = query.size()
        src_len = key.size(1)

        q = self.q_proj(query)
        k = self.k_proj(key)
        v = self.v_proj(value)
        q *= self.scaling

        q = q.view(bsz, tgt_len, self.num_heads, self.head_dim).transpose(1, 2)
        k = k.view(bsz, src_len, self.num_heads, self.head_dim).transpose(1, 2)
        v = v.view(bsz, src_len, self.num_heads, self.head_dim).transpose(1, 2)
        q = q.reshape(bsz * self.num_heads, tgt_len, self.head_dim)
        k = k.reshape(bsz * self.num_heads, src_len, self.head_dim)
        v = v.reshape(bsz * self.num_heads, src_len, self.head_dim)

        k = self.xpos(k, offset=0, downscale=True)
        q = self.xpos(q, offset=src_len - tgt_len, downscale=False)

        attn_weights = torch.bmm(q, k.transpose(1, 2))
        if attn_mask is not None:
            attn_weights = torch.nan_to_num(attn_weights)
            attn_mask = attn_mask.unsqueeze(0)
            attn_weights += attn_mask

        attn_weights = F.softmax(attn_weights, dim=-1, dtype=torch.float32).type_as(attn_weights)
        attn = torch.bmm(attn_weights, v)
        attn = attn.transpose(0, 1).reshape(tgt_len, bsz, embed_dim).transpose(0, 1)
        attn = self.inner_attn_ln(attn)
        return self.out_proj(attn), attn_weights.view(bsz, self.num_heads, tgt_len, src_len).mean(dim=1)


class Model(nn.Module):
    """Decoder self-attention over a prefix + current window, with extrapolatable positions (LEX transformer)."""

    def __init__(self, embed_dim, num_heads, xpos_scale_base):
        super().__init__()
        self.self_attn = SubLayerNormMHA(embed_dim, num_heads, xpos_scale_base)
        self.self_attn_layer_norm = nn.LayerNorm(embed_dim)
        self.to(torch.bfloat16)

    def forward(self, x, memory):
        residual = x
        x = self.self_attn_layer_norm(x)
        full = torch.cat([memory, x], dim=1)
        t, s = x.size(1), full.size(1)
        attn_mask = torch.triu(torch.zeros([t, s]).float().fill_(float("-inf")).type_as(x), 1 + s - t)
        x, attn = self.self_attn(x, full, full, attn_mask)
        return residual + x, attn


def get_inputs():
    return [torch.randn(4, 768, 768).bfloat16(), torch.randn(4, 256, 768).bfloat16()]


def get_init_inputs():
    return [768, 12, 512]
