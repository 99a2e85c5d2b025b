import torch
import torch.nn as nn
import torch.nn.functional as F


class Dice(nn.Module):
    def __init__(self, emb_size, dim=2, epsilon=1e-8):
        super().__init__()
        self.bn = nn.BatchNorm1d(emb_size, eps=epsilon)
        self.dim = dim
        self.alpha = nn.Parameter(torch.full((emb_size,), 0.1))

    def forward(self, x):
        if self.dim == 2:
            x_p = torch.sigmoid(self.bn(x))
            return self.alpha * (1 - x_p) * x + x_p * x
        x = torch.transpose(x, 1, 2)
        x_p = torch.sigmoid(self.bn(x))
        out = self.alpha.unsqueeze(-1) * (1 - x_p) * x + x_p * x
        return torch.transpose(out, 1, 2)


class AttentionSequencePoolingLayer(nn.Module):
    def __init__(self, embedding_dim, hidden=(80, 40), weight_normalization=False):
        super().__init__()
        self.lin1 = nn.Linear(4 * embedding_dim, hidden[0])
        self.act1 = Dice(hidden[0], dim=3)
        self.lin2 = nn.Linear(hidden[0], hidden[1])
        self.act2 = Dice(hidden[1], dim=3)
        self.out = nn.Linear(hidden[1], 1)
        self.weight_normalization = weight_normalization

    def forward(self, query, keys, keys_length):
        batch_size, max_length, dim = keys.size()
        keys_masks = torch.arange(max_length, device=keys_length.device, dtype=keys_length.dtype).repeat(batch_size, 1)
        keys_masks = (keys_masks < keys_length.view(-1, 1)).unsqueeze(1)
        queries = query.expand(-1, max_length, -1)
        attention_input = torch.cat([queries, keys, queries - keys, queries * keys], dim=-1)
        score = self.out(self.act2(self.lin2(self.act1(self.lin1(attention_input)))))
        outputs = torch.transpose(score, 1, 2)
        paddings = torch.ones_like(outputs) * (-2 ** 32 + 1) if self.weight_normalization else torch.zeros_like(outputs)
        outputs = torch.where(keys_masks, outputs, paddings)
        if self.weight_normalization:
            outputs = F.softmax(outputs, dim=-1)
        return torch.matmul(outputs, keys)


class CrossNetMix(nn.Module):
    """DCN-v2 with low rank experts"""

    def __init__(self, in_features, low_rank=32, num_experts=4, layer_num=2):
        super().__init__()
        self.layer_num, self.num_experts = layer_num, num_experts
        self.U_list = nn.Parameter(torch.Tensor(layer_num, num_experts, in_features, low_rank))
        self.V_list = nn.Parameter(torch.Tensor(layer_num, num_experts, in_features, low_rank))
        self.C_list = nn.Parameter(torch.Tensor(layer_num, num_experts, low_rank, low_rank))
        self.gating = nn.ModuleList([nn.Linear(in_features, 1, bias=False) for _ in range(num_experts)])
        self.bias = nn.Parameter(torch.zeros(layer_num, in_features, 1))
        for p in (self.U_list, self.V_list, self.C_list):
            for i in range(layer_num):
                nn.init.xavier_normal_(p[i])

    def forward(self, inputs):
        x_0 = inputs.unsqueeze(2)
        x_l = x_0
        for i in range(self.layer_num):
            output_of_experts, gating_score_of_experts = [], []
            for expert_id in range(self.num_experts):
                gating_score_of_experts.append(self.gating[expert_id](x_l.squeeze(2)))
                v_x = torch.tanh(torch.matmul(self.V_list[i][expert_id].t(), x_l))
                v_x = torch.tanh(torch.matmul(self.C_list[i][expert_id], v_x))
                uv_x = torch.matmul(self.U_list[i][expert_id], v_x)
                dot_ = x_0 * (uv_x + self.bias[i])
                output_of_experts.append(dot_.squeeze(2))
            output_of_experts = torch.stack(output_of_experts, 2)
            gating_score_of_experts = torch.stack(gating_score_of_experts, 1)
            moe_out = torch.matmul(output_of_experts, gating_score_of_experts.softmax(1))
            x_l = moe_out + x_l
        return x_l.squeeze()


class Model(nn.Module):
    def __init__(self, n_items, n_cates, n_users, emb, n_dense, n_experts, n_tasks):
        super().__init__()
        self.item = nn.Embedding(n_items, emb // 2)
        self.cate = nn.Embedding(n_cates, emb // 2)
        self.user = nn.Embedding(n_users, emb)
        self.din = AttentionSequencePoolingLayer(emb)
        d = 3 * emb + n_dense
        self.cross = CrossNetMix(d)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(d, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU()) for _ in range(n_experts)])
        self.gates = nn.ModuleList([nn.Linear(d, n_experts, bias=False) for _ in range(n_tasks)])
        self.towers = nn.ModuleList([nn.Sequential(nn.Linear(128, 64), Dice(64), nn.Linear(64, 1)) for _ in range(n_tasks)])
        for e in (self.item, self.cate, self.user):
            nn.init.normal_(e.weight, std=0.3)

    def forward(self, user, target_item, target_cate, hist_item, hist_cate, hist_len, dense):
        query = torch.cat([self.item(target_item), self.cate(target_cate)], dim=-1).unsqueeze(1)
        keys = torch.cat([self.item(hist_item), self.cate(hist_cate)], dim=-1)
        hist = self.din(query, keys, hist_len).squeeze(1)
        u = self.user(user)
        fields = torch.stack([query.squeeze(1), hist, u], dim=1)
        square_of_sum = torch.pow(torch.sum(fields, dim=1, keepdim=True), 2)
        sum_of_square = torch.sum(fields * fields, dim=1, keepdim=True)
        fm = 0.5 * torch.sum(square_of_sum - sum_of_square, dim=2)
        x = self.cross(torch.cat([fields.flatten(1), torch.log1p(dense)], dim=-1))
        experts_o = torch.stack([e(x) for e in self.experts], dim=1)
        outs = []
        for g, t in zip(self.gates, self.towers):
            w = F.softmax(g(x), dim=-1)
            outs.append(t(torch.einsum("be,bed->bd", w, experts_o)) + fm)
        pctr, pcvr = torch.sigmoid(torch.cat(outs, dim=1)).split(1, dim=1)
        return pctr, pctr * pcvr  # ESMM


def get_inputs():
    B, L = 1024, 50
    return [
        torch.randint(0, 100, (B,)) * 100,
        torch.randint(0, 50000, (B,)),
        torch.randint(0, 500, (B,)),
        torch.randint(0, 50000, (B, L)),
        torch.randint(0, 500, (B, L)),
        torch.randint(1, L + 1, (B,)),
        torch.rand(B, 13) * 100,
    ]


def get_init_inputs():
    return [50000, 500, 10000, 64, 13, 4, 2]
