import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class T5LayerNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        variance = hidden_states.to(torch.float32).pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states


class T5DenseGatedActDense(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.wi_0 = nn.Linear(d_model, d_ff, bias=False)
        self.wi_1 = nn.Linear(d_model, d_ff, bias=False)
        self.wo = nn.Linear(d_ff, d_model, bias=False)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        hidden_gelu = F.gelu(self.wi_0(x), approximate="tanh")
        hidden_linear = self.wi_1(x)
        return self.wo(self.dropout(hidden_gelu * hidden_linear))


class Model(nn.Module):
    """Flan-T5 encoder layer with bucketed relative position bias; also returns the bias for later layers."""

    def __init__(self, d_model, d_kv, n_heads, d_ff, num_buckets, max_distance):
        super().__init__()
        self.n_heads, self.d_kv = n_heads, d_kv
        self.num_buckets, self.max_distance = num_buckets, max_distance
        inner = n_heads * d_kv
        self.q = nn.Linear(d_model, inner, bias=False)
        self.k = nn.Linear(d_model, inner, bias=False)
        self.v = nn.Linear(d_model, inner, bias=False)
        self.o = nn.Linear(inner, d_model, bias=False)
        self.relative_attention_bias = nn.Embedding(num_buckets, n_heads)
        self.ln0 = T5LayerNorm(d_model)
        self.ln1 = T5LayerNorm(d_model)
        self.ff = T5DenseGatedActDense(d_model, d_ff)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    @staticmethod
    def _relative_position_bucket(relative_position, num_buckets=32, max_distance=128):
        relative_buckets = 0
        num_buckets //= 2
        relative_buckets += (relative_position > 0).to(torch.long) * num_buckets
        relative_position = torch.abs(relative_position)
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        if_large = max_exact + (
            torch.log(relative_position.float() / max_exact)
            / math.log(max_distance / max_exact)
            * (num_buckets - max_exact)
        ).to(torch.long)
        if_large = torch.min(if_large, torch.full_like(if_large, num_buckets - 1))
        relative_buckets += torch.where(is_small, relative_position, if_large)
        return relative_buckets

    def compute_bias(self, query_length, key_length, device):
        context_position = torch.arange(query_length, dtype=torch.long, device=device)[:, None]
        memory_position = torch.arange(key_length, dtype=torch.long, device=device)[None, :]
        bucket = self._relative_position_bucket(memory_position - context_position,
                                                self.num_buckets, self.max_distance)
        values = self.relative_attention_bias(bucket)
        return values.permute([2, 0, 1]).unsqueeze(0)

    def forward(self, hidden_states, key_mask):
        b, t, _ = hidden_states.shape

        def shape(states):
            return states.view(b, -1, self.n_heads, self.d_kv).transpose(1, 2)

        normed = self.ln0(hidden_states)
        q, k, v = shape(self.q(normed)), shape(self.k(normed)), shape(self.v(normed))
        # T5 does not scale q.k; its initialiser does
        scores = torch.matmul(q * (self.d_kv ** -0.5), k.transpose(3, 2))
        ext_mask = (1.0 - key_mask[:, None, None, :].to(scores.dtype)) * torch.finfo(scores.dtype).min
        position_bias = self.compute_bias(t, t, hidden_states.device) + ext_mask
        scores = scores + position_bias
        w = F.softmax(scores.float(), dim=-1).type_as(scores)
        ctx = torch.matmul(w, v).transpose(1, 2).contiguous().view(b, -1, self.n_heads * self.d_kv)
        hidden_states = hidden_states + self.o(ctx)
        hidden_states = hidden_states + self.ff(self.ln1(hidden_states))
        return hidden_states, w.mean(dim=1)


BATCH = 8
LEN = 512
D_MODEL = 768
D_KV = 64
N_HEADS = 12
D_FF = 2048
NUM_BUCKETS = 32
MAX_DISTANCE = 128


def get_inputs():
    return [torch.randn(BATCH, LEN, D_MODEL), torch.rand(BATCH, LEN) > 0.1]


def get_init_inputs():
    return [D_MODEL, D_KV, N_HEADS, D_FF, NUM_BUCKETS, MAX_DISTANCE]
