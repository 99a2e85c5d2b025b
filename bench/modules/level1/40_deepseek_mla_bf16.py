import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        x = x.float()
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * x.to(dtype)


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rope_deinterleave(x, cos, sin):
    # DeepSeek stores interleaved pairs and de-interleaves with view/transpose before the half rotation
    b, h, s, d = x.shape
    x = x.view(b, h, s, d // 2, 2).transpose(4, 3).reshape(b, h, s, d)
    return (x * cos) + (rotate_half(x) * sin)


class Model(nn.Module):
    """DeepSeek-V2/V3 multi-head latent attention (naive form) in bfloat16; returns a dict with the latent cache."""

    def __init__(self, hidden, heads, q_lora, kv_lora, qk_nope, qk_rope, v_dim):
        super().__init__()
        self.h, self.nope, self.rope, self.v_dim, self.kv_lora = heads, qk_nope, qk_rope, v_dim, kv_lora
        self.q_a_proj = nn.Linear(hidden, q_lora, bias=False)
        self.q_a_layernorm = RMSNorm(q_lora)
        self.q_b_proj = nn.Linear(q_lora, heads * (qk_nope + qk_rope), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(hidden, kv_lora + qk_rope, bias=False)
        self.kv_a_layernorm = RMSNorm(kv_lora)
        self.kv_b_proj = nn.Linear(kv_lora, heads * (qk_nope + v_dim), bias=False)
        self.o_proj = nn.Linear(heads * v_dim, hidden, bias=False)
        self.softmax_scale = (qk_nope + qk_rope) ** -0.5
        self.to(dtype=torch.bfloat16)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    def forward(self, x):
        b, s, _ = x.size()
        q = self.q_b_proj(self.q_a_layernorm(self.q_a_proj(x)))
        q = q.view(b, s, self.h, self.nope + self.rope).transpose(1, 2)
        q_nope, q_pe = torch.split(q, [self.nope, self.rope], dim=-1)

        compressed_kv = self.kv_a_proj_with_mqa(x)
        compressed_kv, k_pe = torch.split(compressed_kv, [self.kv_lora, self.rope], dim=-1)
        k_pe = k_pe.view(b, s, 1, self.rope).transpose(1, 2)
        latent = self.kv_a_layernorm(compressed_kv)
        kv = self.kv_b_proj(latent).view(b, s, self.h, self.nope + self.v_dim).transpose(1, 2)
        k_nope, value = torch.split(kv, [self.nope, self.v_dim], dim=-1)

        inv = 1.0 / (10000 ** (torch.arange(0, self.rope, 2, device=x.device).float() / self.rope))
        fr = torch.outer(torch.arange(s, device=x.device).float(), inv)
        emb = torch.cat((fr, fr), dim=-1)
        cos, sin = emb.cos().to(x.dtype), emb.sin().to(x.dtype)
        q_pe, k_pe = apply_rope_deinterleave(q_pe, cos, sin), apply_rope_deinterleave(k_pe, cos, sin)

        query = k_pe.new_empty(b, self.h, s, self.nope + self.rope)
        query[:, :, :, : self.nope] = q_nope
        query[:, :, :, self.nope:] = q_pe
        key = torch.cat([k_nope, k_pe.expand(-1, self.h, -1, -1)], dim=-1)

        w = torch.matmul(query, key.transpose(2, 3)) * self.softmax_scale
        mask = torch.full((s, s), float("-inf"), device=x.device, dtype=w.dtype).triu_(1)
        w = F.softmax(w + mask, dim=-1, dtype=torch.float32).to(query.dtype)
        out = torch.matmul(w, value).transpose(1, 2).reshape(b, s, self.h * self.v_dim)
        return {"attn_output": self.o_proj(out), "latent_kv": latent, "k_pe": k_pe.squeeze(1)}


bsz = 2
q_len = 2048
hidden = 2048
heads = 16
q_lora = 768
kv_lora = 512
qk_nope = 128
qk_rope = 64
v_dim = 128


def get_inputs():
    return [torch.randn(bsz, q_len, hidden).to(torch.bfloat16)]


def get_init_inputs():
    return [hidden, heads, q_lora, kv_lora, qk_nope, qk_rope, v_dim]
