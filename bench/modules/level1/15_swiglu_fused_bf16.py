import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        input_dtype = x.dtype
        x = x.to(torch.float32)
        variance = x.pow(2).mean(-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x.to(input_dtype)


class Model(nn.Module):
    """Phi-3 style MLP: fused gate_up projection, chunk, SiLU gate, pre-norm residual, in bfloat16."""

    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.norm = RMSNorm(hidden_size)
        self.gate_up_proj = nn.Linear(hidden_size, 2 * intermediate_size, bias=False)
        self.down_proj = nn.Linear(intermediate_size, hidden_size, bias=False)
        self.activation_fn = nn.SiLU()
        self.to(torch.bfloat16)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.0 * m.in_features ** -0.5)

    def forward(self, hidden_states):
        up_states = self.gate_up_proj(self.norm(hidden_states))
        gate, up_states = up_states.chunk(2, dim=-1)
        up_states = up_states * self.activation_fn(gate)
        return hidden_states + self.down_proj(up_states)


batch_size = 4
seq_len = 2048
hidden_size = 2048
intermediate_size = 5632


def get_inputs():
    return [torch.randn(batch_size, seq_len, hidden_size).to(torch.bfloat16)]


def get_init_inputs():
    return [hidden_size, intermediate_size]
