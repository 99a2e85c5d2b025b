import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """gpt-oss MoE in its dense form: every expert sees every token, top-k weights scattered into a matrix,
    gate/up interleaved in one weight, clamped SwiGLU."""

    def __init__(self, hidden, inter, experts, top_k):
        super().__init__()
        self.num_experts, self.top_k, self.hidden = experts, top_k, hidden
        self.alpha, self.limit = 1.702, 7.0
        self.router_weight = nn.Parameter(torch.randn(experts, hidden) * hidden ** -0.5)
        self.router_bias = nn.Parameter(torch.randn(experts) * 0.1)
        self.gate_up_proj = nn.Parameter(torch.randn(experts, hidden, 2 * inter) * hidden ** -0.5)
        self.gate_up_proj_bias = nn.Parameter(torch.randn(experts, 2 * inter) * 0.1)
        self.down_proj = nn.Parameter(torch.randn(experts, inter, hidden) * inter ** -0.5)
        self.down_proj_bias = nn.Parameter(torch.randn(experts, hidden) * 0.1)

    def forward(self, hidden_states):
        batch_size, seq_len, _ = hidden_states.shape
        hidden_states = hidden_states.reshape(-1, self.hidden)
        router_logits = F.linear(hidden_states, self.router_weight, self.router_bias)
        router_top_value, router_indices = torch.topk(router_logits, self.top_k, dim=-1)
        router_top_value = F.softmax(router_top_value, dim=1, dtype=router_top_value.dtype)
        routing_weights = torch.zeros_like(router_logits).scatter_(1, router_indices, router_top_value)

        x = hidden_states.repeat(self.num_experts, 1).view(self.num_experts, -1, self.hidden)
        gate_up = torch.bmm(x, self.gate_up_proj) + self.gate_up_proj_bias[..., None, :]
        gate, up = gate_up[..., ::2], gate_up[..., 1::2]
        gate = gate.clamp(min=None, max=self.limit)
        up = up.clamp(min=-self.limit, max=self.limit)
        glu = gate * torch.sigmoid(gate * self.alpha)
        nxt = torch.bmm(((up + 1) * glu), self.down_proj)
        nxt = nxt + self.down_proj_bias[..., None, :]
        nxt = nxt.view(self.num_experts, batch_size, -1, self.hidden)
        nxt = nxt * routing_weights.transpose(0, 1).view(self.num_experts, batch_size, -1)[..., None]
        return nxt.sum(dim=0), routing_weights


BATCH = 2
SEQ = 1024
HIDDEN = 1024
INTER = 1024
EXPERTS = 16
TOP_K = 4


def get_inputs():
    return [torch.randn(BATCH, SEQ, HIDDEN)]


def get_init_inputs():
    return [HIDDEN, INTER, EXPERTS, TOP_K]
