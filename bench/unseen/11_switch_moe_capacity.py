import torch
import torch.nn as nn
import torch.nn.functional as F

MIN_EXPERT_CAPACITY = 4


def cumsum_exclusive(t, dim=-2):
    pad = [0, 0] * (-dim - 1)
    padded = F.pad(t, (*pad, 1, -1))
    return padded.cumsum(dim=dim)


def safe_one_hot(indexes, max_length):
    max_index = max_length + indexes.new_zeros(())
    one = F.one_hot(torch.minimum(indexes, max_index), max_length + 1)
    return one[..., :max_length]


class Experts(nn.Module):
    def __init__(self, dim, num_experts, hidden_dim):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(num_experts, dim, hidden_dim).uniform_(-dim ** -0.5, dim ** -0.5))
        self.w2 = nn.Parameter(torch.empty(num_experts, hidden_dim, dim).uniform_(-hidden_dim ** -0.5, hidden_dim ** -0.5))
        self.act = nn.GELU()

    def forward(self, x):
        hidden = torch.einsum("end,edh->enh", x, self.w1)
        hidden = self.act(hidden)
        return torch.einsum("enh,ehd->end", hidden, self.w2)


class Top2Gating(nn.Module):
    def __init__(self, dim, num_gates, capacity_factor, eps=1e-9):
        super().__init__()
        self.eps, self.num_gates, self.capacity_factor = eps, num_gates, capacity_factor
        self.w_gating = nn.Parameter(torch.randn(dim, num_gates) * 0.05)

    def forward(self, x):
        *_, b, group_size, dim = x.shape
        raw_gates = torch.einsum("bnd,de->bne", x.float(), self.w_gating.float()).softmax(dim=-1)
        gate_1, index_1 = raw_gates.topk(k=1, dim=-1)
        gate_1, index_1 = gate_1.squeeze(-1), index_1.squeeze(-1)
        mask_1 = F.one_hot(index_1, self.num_gates).float()
        gates_without_top_1 = raw_gates * (1.0 - mask_1)
        gate_2, index_2 = gates_without_top_1.max(dim=-1)
        mask_2 = F.one_hot(index_2, self.num_gates).float()
        denom = gate_1 + gate_2 + self.eps
        gate_1 = gate_1 / denom
        gate_2 = gate_2 / denom

        density_1 = mask_1.mean(dim=-2)
        density_1_proxy = raw_gates.mean(dim=-2)
        loss = (density_1_proxy * density_1).mean() * float(self.num_gates ** 2)

        mask_2 = mask_2 * (gate_2 > 0.2).unsqueeze(-1).float()
        expert_capacity = max(min(group_size, int((group_size * self.capacity_factor) / self.num_gates)), MIN_EXPERT_CAPACITY)
        expert_capacity_f = float(expert_capacity)

        position_in_expert_1 = cumsum_exclusive(mask_1, dim=-2) * mask_1
        mask_1 = mask_1 * (position_in_expert_1 < expert_capacity_f).float()
        mask_1_count = mask_1.sum(dim=-2, keepdim=True)
        mask_1_flat = mask_1.sum(dim=-1)
        position_in_expert_1 = position_in_expert_1.sum(dim=-1)
        gate_1 = gate_1 * mask_1_flat

        position_in_expert_2 = (cumsum_exclusive(mask_2, dim=-2) + mask_1_count) * mask_2
        mask_2 = mask_2 * (position_in_expert_2 < expert_capacity_f).float()
        mask_2_flat = mask_2.sum(dim=-1)
        position_in_expert_2 = position_in_expert_2.sum(dim=-1)
        gate_2 = gate_2 * mask_2_flat

        combine_tensor = (
            gate_1[..., None, None] * mask_1_flat[..., None, None]
            * F.one_hot(index_1, self.num_gates)[..., None]
            * safe_one_hot(position_in_expert_1.long(), expert_capacity)[..., None, :]
            + gate_2[..., None, None] * mask_2_flat[..., None, None]
            * F.one_hot(index_2, self.num_gates)[..., None]
            * safe_one_hot(position_in_expert_2.long(), expert_capacity)[..., None, :]
        )
        dispatch_tensor = combine_tensor.bool().to(x.dtype)
        return dispatch_tensor, combine_tensor.to(x.dtype), loss


class Model(nn.Module):
    def __init__(self, dim, num_experts, hidden_dim, capacity_factor, loss_coef):
        super().__init__()
        self.num_experts = num_experts
        self.gate = Top2Gating(dim, num_experts, capacity_factor)
        self.experts = Experts(dim, num_experts, hidden_dim)
        self.loss_coef = loss_coef
        self.to(torch.bfloat16)

    def forward(self, inputs):
        b, n, d = inputs.shape
        e = self.num_experts
        dispatch_tensor, combine_tensor, loss = self.gate(inputs)
        expert_inputs = torch.einsum("bnd,bnec->ebcd", inputs, dispatch_tensor)
        orig_shape = expert_inputs.shape
        expert_inputs = expert_inputs.reshape(e, -1, d)
        expert_outputs = self.experts(expert_inputs)
        expert_outputs = expert_outputs.reshape(*orig_shape)
        output = torch.einsum("ebcd,bnec->bnd", expert_outputs, combine_tensor)
        return output, loss * self.loss_coef


def get_inputs():
    return [torch.randn(8, 512, 512, dtype=torch.bfloat16)]


def get_init_inputs():
    return [512, 8, 1024, 1.25, 1e-2]
