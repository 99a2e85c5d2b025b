import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def init_t_xy(end_x: int, end_y: int):
    t = torch.arange(end_x * end_y, dtype=torch.float32)
    t_x = (t % end_x).float()
    t_y = torch.div(t, end_x, rounding_mode="floor").float()
    return t_x, t_y


def compute_axial_cis(dim: int, end_x: int, end_y: int, theta: float = 100.0):
    freqs_x = 1.0 / (theta ** (torch.arange(0, dim, 4)[: (dim // 4)].float() / dim))
    freqs_y = 1.0 / (theta ** (torch.arange(0, dim, 4)[: (dim // 4)].float() / dim))
    t_x, t_y = init_t_xy(end_x, end_y)
    freqs_x = torch.outer(t_x, freqs_x)
    freqs_y = torch.outer(t_y, freqs_y)
    freqs_cis_x = torch.polar(torch.ones_like(freqs_x), freqs_x)
    freqs_cis_y = torch.polar(torch.ones_like(freqs_y), freqs_y)
    return torch.cat([freqs_cis_x, freqs_cis_y], dim=-1)


def apply_rotary_enc(xq, xk, freqs_cis, repeat_freqs_k=False):
    xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
    xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
    freqs_cis = freqs_cis.view(1, 1, *freqs_cis.shape)
    xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
    if repeat_freqs_k:
        r = xk_.shape[-2] // xq_.shape[-2]
        freqs_cis = freqs_cis.repeat(*([1] * (freqs_cis.ndim - 2)), r, 1)
    xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
    return xq_out.type_as(xq), xk_out.type_as(xk)


class Attention(nn.Module):
    """Memory attention with 2D axial rotary encoding; the memory holds several frames of the same grid and object pointers."""

    def __init__(self, embedding_dim, num_heads, kv_in_dim, feat_sizes, rope_k_repeat):
        super().__init__()
        self.num_heads = num_heads
        self.rope_k_repeat = rope_k_repeat
        self.q_proj = nn.Linear(embedding_dim, embedding_dim)
        self.k_proj = nn.Linear(kv_in_dim, embedding_dim)
        self.v_proj = nn.Linear(kv_in_dim, embedding_dim)
        self.out_proj = nn.Linear(embedding_dim, embedding_dim)
        cis = compute_axial_cis(embedding_dim // num_heads, feat_sizes[0], feat_sizes[1])
        self.register_buffer("freqs_real", torch.view_as_real(cis).contiguous(), persistent=False)

    def _separate_heads(self, x):
        b, n, c = x.shape
        return x.reshape(b, n, self.num_heads, c // self.num_heads).transpose(1, 2)

    def _recombine_heads(self, x):
        b, n_heads, n_tokens, c_per_head = x.shape
        return x.transpose(1, 2).reshape(b, n_tokens, n_heads * c_per_head)

    def forward(self, q, k, v, num_k_exclude_rope=0):
        q = self._separate_heads(self.q_proj(q))
        k = self._separate_heads(self.k_proj(k))
        v = self._separate_heads(self.v_proj(v))
        num_k_rope = k.size(-2) - num_k_exclude_rope
        freqs_cis = torch.view_as_complex(self.freqs_real)
        q, k_rope = apply_rotary_enc(q, k[:, :, :num_k_rope], freqs_cis, repeat_freqs_k=self.rope_k_repeat)
        k = torch.cat([k_rope, k[:, :, num_k_rope:]], dim=2)
        out = F.scaled_dot_product_attention(q, k, v)
        return self.out_proj(self._recombine_heads(out))


class Model(nn.Module):
    def __init__(self, d_model, num_heads, mem_dim, feat_sizes, dim_feedforward):
        super().__init__()
        self.self_attn = Attention(d_model, num_heads, d_model, feat_sizes, False)
        self.cross_attn_image = Attention(d_model, num_heads, mem_dim, feat_sizes, True)
        self.linear1 = nn.Linear(d_model, dim_feedforward)
        self.linear2 = nn.Linear(dim_feedforward, d_model)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.mem_temporal_pos = nn.Parameter(torch.randn(7, 1, 1, mem_dim) * 0.02)
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.LayerNorm)):
                m.half()
        self.mem_temporal_pos.data = self.mem_temporal_pos.data.half()

    def forward(self, curr, curr_pos, maskmem, maskmem_pos, obj_ptrs):
        # curr: (HW, B, C), maskmem: (T, B, Cm, H, W), obj_ptrs: (T, B, C)
        tgt = (curr + 0.1 * curr_pos).transpose(0, 1)
        T, B, Cm, H, W = maskmem.shape
        mem = maskmem.flatten(3).permute(0, 3, 1, 2)
        pos = maskmem_pos.flatten(2).permute(2, 0, 1).unsqueeze(0) + self.mem_temporal_pos[torch.arange(T - 1, -1, -1, device=curr.device)]
        mem, pos = mem.reshape(T * H * W, B, Cm), pos.reshape(T * H * W, B, Cm)
        P, _, C = obj_ptrs.shape
        ptr = obj_ptrs.reshape(-1, B, C // Cm, Cm).permute(0, 2, 1, 3).flatten(0, 1)
        memory = torch.cat([mem, ptr], dim=0).transpose(0, 1)
        memory_pos = torch.cat([pos, torch.zeros_like(ptr)], dim=0).transpose(0, 1)

        tgt2 = self.norm1(tgt)
        tgt = tgt + self.self_attn(tgt2, tgt2, tgt2)
        tgt2 = self.norm2(tgt)
        tgt = tgt + self.cross_attn_image(tgt2, memory + memory_pos, memory, num_k_exclude_rope=ptr.shape[0])
        tgt2 = self.norm3(tgt)
        tgt = tgt + self.linear2(F.relu(self.linear1(tgt2)))
        return tgt.transpose(0, 1)


def get_inputs():
    B, H, W, C, Cm, T = 2, 28, 28, 256, 64, 4
    shapes = [(H * W, B, C), (H * W, B, C), (T, B, Cm, H, W), (B, Cm, H, W), (T, B, C)]
    return [torch.randn(*s).half() for s in shapes]


def get_init_inputs():
    return [256, 1, 64, (28, 28), 1024]
