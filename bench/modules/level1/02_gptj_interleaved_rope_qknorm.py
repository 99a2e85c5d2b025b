import torch
import torch.nn as nn
import torch.nn.functional as F


def create_sinusoidal_positions(num_pos, dim):
    inv_freq = 1.0 / (10000 ** (torch.arange(0, dim, 2) / dim))
    sinusoid_inp = torch.einsum("i , j -> i j", torch.arange(num_pos, dtype=torch.float), inv_freq)
    return torch.cat((torch.sin(sinusoid_inp), torch.cos(sinusoid_inp)), dim=1)


def rotate_every_two(x):
    x1 = x[:, :, :, ::2]
    x2 = x[:, :, :, 1::2]
    x = torch.stack((-x2, x1), dim=-1)
    return x.flatten(-2)


def apply_rotary(tensor, sin, cos):
    sin = torch.repeat_interleave(sin[:, :, None, :], 2, 3)
    cos = torch.repeat_interleave(cos[:, :, None, :], 2, 3)
    return (tensor * cos) + (rotate_every_two(tensor) * sin)


class NewGELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * (x + 0.044715 * torch.pow(x, 3.0))))


class Model(nn.Module):
    """GPT-J block (parallel attention + MLP), partial interleaved RoPE and per-head QK LayerNorm."""

    def __init__(self, n_head, head_dim, rotary_dim, ff_mult, max_pos):
        super().__init__()
        d = n_head * head_dim
        self.n_head, self.head_dim, self.rotary_dim = n_head, head_dim, rotary_dim
        self.ln_1 = nn.LayerNorm(d, eps=1e-5)
        self.q_norm = nn.LayerNorm(head_dim)
        self.k_norm = nn.LayerNorm(head_dim)
        self.q_proj = nn.Linear(d, d, bias=False)
        self.k_proj = nn.Linear(d, d, bias=False)
        self.v_proj = nn.Linear(d, d, bias=False)
        self.out_proj = nn.Linear(d, d, bias=False)
        self.fc_in = nn.Linear(d, ff_mult * d)
        self.fc_out = nn.Linear(ff_mult * d, d)
        self.act = NewGELU()
        self.resid_dropout = nn.Dropout(0.0)
        self.register_buffer("embed_positions", create_sinusoidal_positions(max_pos, rotary_dim))
        self.register_buffer("bias", torch.tril(torch.ones((max_pos, max_pos), dtype=torch.bool)).view(
            1, 1, max_pos, max_pos), persistent=False)
        self.scale_attn = torch.sqrt(torch.tensor(head_dim, dtype=torch.float32)).item()
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    def _attn(self, q, k, v):
        query_length, key_length = q.size(-2), k.size(-2)
        mask = self.bias[:, :, key_length - query_length: key_length, :key_length]
        w = torch.matmul(q.to(torch.float32), k.to(torch.float32).transpose(-1, -2))
        w = w / self.scale_attn
        w = torch.where(mask, w, torch.tensor(torch.finfo(w.dtype).min, dtype=w.dtype, device=w.device))
        w = nn.functional.softmax(w, dim=-1).to(v.dtype)
        return torch.matmul(w, v)

    def forward(self, x):
        residual = x
        h = self.ln_1(x)
        b, t, d = h.shape
        q = self.q_norm(self.q_proj(h).view(b, t, self.n_head, self.head_dim))
        k = self.k_norm(self.k_proj(h).view(b, t, self.n_head, self.head_dim))
        v = self.v_proj(h).view(b, t, self.n_head, self.head_dim).permute(0, 2, 1, 3)

        sincos = self.embed_positions[:t].unsqueeze(0)
        sin, cos = torch.split(sincos, sincos.shape[-1] // 2, dim=-1)
        k_rot, k_pass = k[..., : self.rotary_dim], k[..., self.rotary_dim:]
        q_rot, q_pass = q[..., : self.rotary_dim], q[..., self.rotary_dim:]
        k = torch.cat([apply_rotary(k_rot, sin, cos), k_pass], dim=-1).permute(0, 2, 1, 3)
        q = torch.cat([apply_rotary(q_rot, sin, cos), q_pass], dim=-1).permute(0, 2, 1, 3)

        a = self._attn(q, k, v).permute(0, 2, 1, 3).contiguous().view(b, t, d)
        a = self.resid_dropout(self.out_proj(a))
        m = self.resid_dropout(self.fc_out(self.act(self.fc_in(h))))
        return a + m + residual


B = 4
T = 1024
N_HEAD = 16
HEAD_DIM = 128
ROTARY_DIM = 64
FF_MULT = 4


def get_inputs():
    return [torch.randn(B, T, N_HEAD * HEAD_DIM)]


def get_init_inputs():
    return [N_HEAD, HEAD_DIM, ROTARY_DIM, FF_MULT, T]
