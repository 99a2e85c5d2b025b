import torch
import torch.nn as nn
import torch.nn.functional as F


def scatter_sum(src, index, dim_size):
    out = src.new_zeros((dim_size,) + src.shape[1:])
    return out.index_add_(0, index, src)


def scatter_softmax(src, index, num_nodes):
    idx = index.view(-1, *([1] * (src.dim() - 1))).expand_as(src)
    src_max = torch.full((num_nodes,) + src.shape[1:], float("-inf"), dtype=src.dtype, device=src.device)
    src_max = src_max.scatter_reduce(0, idx, src.detach(), reduce="amax", include_self=False)
    out = (src - src_max.index_select(0, index)).exp()
    out_sum = scatter_sum(out, index, num_nodes) + 1e-16
    return out / out_sum.index_select(0, index)


class GATv2Conv(nn.Module):
    def __init__(self, in_channels, out_channels, heads, edge_dim, negative_slope=0.2):
        super().__init__()
        self.heads, self.out_channels, self.negative_slope = heads, out_channels, negative_slope
        self.lin_l = nn.Linear(in_channels, heads * out_channels)
        self.lin_r = nn.Linear(in_channels, heads * out_channels)
        self.lin_edge = nn.Linear(edge_dim, heads * out_channels, bias=False)
        self.att = nn.Parameter(torch.empty(1, heads, out_channels))
        nn.init.xavier_uniform_(self.att)
        self.bias = nn.Parameter(torch.zeros(heads * out_channels))

    def forward(self, x, edge_index, edge_attr):
        H, C, N = self.heads, self.out_channels, x.size(0)
        x_l = self.lin_l(x).view(-1, H, C)
        x_r = self.lin_r(x).view(-1, H, C)
        src, dst = edge_index[0], edge_index[1]
        x_j = x_l.index_select(0, src)
        e = x_j + x_r.index_select(0, dst) + self.lin_edge(edge_attr).view(-1, H, C)
        e = F.leaky_relu(e, self.negative_slope)
        alpha = (e * self.att).sum(dim=-1)
        alpha = scatter_softmax(alpha, dst, N)
        out = scatter_sum(x_j * alpha.unsqueeze(-1), dst, N)
        return out.view(-1, H * C) + self.bias


class GINEConv(nn.Module):
    def __init__(self, dim, edge_dim):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.lin = nn.Linear(edge_dim, dim)
        self.nn = nn.Sequential(nn.Linear(dim, 2 * dim), nn.BatchNorm1d(2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, x, edge_index, edge_attr):
        msg = (x[edge_index[0]] + self.lin(edge_attr)).relu()
        out = scatter_sum(msg, edge_index[1], x.size(0))
        return self.nn(out + (1 + self.eps) * x)


class Model(nn.Module):
    def __init__(self, in_dim, hidden, heads, edge_dim, num_graphs, num_classes):
        super().__init__()
        self.num_graphs = num_graphs
        self.conv1 = GATv2Conv(in_dim, hidden // heads, heads, edge_dim)
        self.norm1 = nn.LayerNorm(hidden)
        self.conv2 = GINEConv(hidden, edge_dim)
        self.gate_nn = nn.Linear(hidden, 1)
        self.head = nn.Linear(3 * hidden, num_classes)

    def forward(self, x, edge_index, edge_attr, batch):
        # GCN-like symmetric weights on the edge features
        deg = torch.zeros(x.size(0), device=x.device).scatter_add_(0, edge_index[1], torch.ones_like(edge_index[1], dtype=x.dtype))
        dis = deg.pow(-0.5).masked_fill(deg == 0, 0.0)
        edge_attr = edge_attr * (dis[edge_index[0]] * dis[edge_index[1]]).unsqueeze(-1)
        h = F.elu(self.norm1(self.conv1(x, edge_index, edge_attr)))
        h = h + F.relu(self.conv2(h, edge_index, edge_attr))
        G = self.num_graphs
        count = scatter_sum(torch.ones_like(h[:, 0]), batch, G).clamp(min=1)
        mean = scatter_sum(h, batch, G) / count.unsqueeze(-1)
        mx = torch.zeros(G, h.size(1), device=h.device).scatter_reduce(0, batch.unsqueeze(-1).expand_as(h), h, reduce="amax", include_self=False)
        gate = scatter_softmax(self.gate_nn(h), batch, G)
        att = scatter_sum(gate * h, batch, G)
        return self.head(torch.cat([mean, mx, att], dim=-1)), h


def get_inputs():
    N, E, G = 8192, 65536, 64
    batch = torch.arange(N) // (N // G)
    src = torch.randint(0, N, (E,))
    dst = (src // (N // G)) * (N // G) + torch.randint(0, N // G, (E,))
    return [torch.randn(N, 64), torch.stack([src, dst]), torch.randn(E, 16), batch]


def get_init_inputs():
    return [64, 128, 4, 16, 64, 10]
