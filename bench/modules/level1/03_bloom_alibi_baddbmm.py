import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def build_alibi_tensor(attention_mask, num_heads, dtype):
    batch_size, seq_length = attention_mask.shape
    closest_power_of_2 = 2 ** math.floor(math.log2(num_heads))
    base = torch.tensor(2 ** (-(2 ** -(math.log2(closest_power_of_2) - 3))),
                        device=attention_mask.device, dtype=torch.float32)
    powers = torch.arange(1, 1 + closest_power_of_2, device=attention_mask.device, dtype=torch.int32)
    slopes = torch.pow(base, powers)
    if closest_power_of_2 != num_heads:
        extra_base = torch.tensor(2 ** (-(2 ** -(math.log2(2 * closest_power_of_2) - 3))),
                                  device=attention_mask.device, dtype=torch.float32)
        num_remaining = min(closest_power_of_2, num_heads - closest_power_of_2)
        extra_powers = torch.arange(1, 1 + 2 * num_remaining, 2, device=attention_mask.device, dtype=torch.int32)
        slopes = torch.cat([slopes, torch.pow(extra_base, extra_powers)], dim=0)
    arange_tensor = ((attention_mask.cumsum(dim=-1) - 1) * attention_mask)[:, None, :]
    alibi = slopes[..., None] * arange_tensor
    return alibi.reshape(batch_size * num_heads, 1, seq_length).to(dtype)


class Model(nn.Module):
    """BLOOM attention: fused QKV laid out (head, 3, dim), ALiBi computed from the padding mask, baddbmm."""

    def __init__(self, n_heads, head_dim):
        super().__init__()
        self.num_heads = n_heads
        self.head_dim = head_dim
        self.hidden = n_heads * head_dim
        self.inv_norm_factor = 1.0 / math.sqrt(head_dim)
        self.beta = 1.0
        self.input_layernorm = nn.LayerNorm(self.hidden)
        self.query_key_value = nn.Linear(self.hidden, 3 * self.hidden, bias=True)
        self.dense = nn.Linear(self.hidden, self.hidden)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    def forward(self, x, attention_mask):
        residual = x
        x = self.input_layernorm(x)
        b, t, _ = x.shape
        alibi = build_alibi_tensor(attention_mask, self.num_heads, x.dtype)

        fused = self.query_key_value(x).view(b, t, self.num_heads, 3, self.head_dim)
        q, k, v = fused[..., 0, :], fused[..., 1, :], fused[..., 2, :]
        q = q.transpose(1, 2).reshape(b * self.num_heads, t, self.head_dim)
        k = k.permute(0, 2, 3, 1).reshape(b * self.num_heads, self.head_dim, t)
        v = v.transpose(1, 2).reshape(b * self.num_heads, t, self.head_dim)

        scores = torch.baddbmm(alibi, q, k, beta=self.beta, alpha=self.inv_norm_factor)
        scores = scores.view(b, self.num_heads, t, t)

        seq_ids = torch.arange(t, device=x.device)
        causal = seq_ids[:, None] < seq_ids[None, :]
        pad = attention_mask[:, None, None, :] == 0
        masked = torch.masked_fill(scores, causal[None, None] | pad, torch.finfo(scores.dtype).min)
        probs = F.softmax(masked, dim=-1, dtype=torch.float32)
        ctx = torch.bmm(probs.view(b * self.num_heads, t, t), v)
        ctx = ctx.view(b, self.num_heads, t, self.head_dim).permute(0, 2, 1, 3).reshape(b, t, self.hidden)
        return self.dense(ctx) + residual


batch = 4
seq = 1024
n_heads = 16
head_dim = 64


def get_inputs():
    x = torch.randn(batch, seq, n_heads * head_dim)
    # right padding, about a quarter of the sequence at most
    lengths = torch.randint(seq - seq // 4, seq + 1, (batch, 1))
    attention_mask = (torch.arange(seq).unsqueeze(0) < lengths).to(torch.int64)
    return [x, attention_mask]


def get_init_inputs():
    return [n_heads, head_dim]
