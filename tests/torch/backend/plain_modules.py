"""Modules in plain PyTorch: blocks of networks whose library may be absent, written as that library computes them.

Default arguments give the small sizes that tests compile. modules.py gives the real ones, and says
with which inputs each class is called.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.scale = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 16)), 1.5

    def forward(self, x):
        return self.layers(x) * self.scale + x


class ConvNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.pool = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(F.relu(self.bn(self.conv(x))))


class EncoderAndLstm(nn.Module):
    """nn.TransformerEncoderLayer, then a 2-layer nn.LSTM."""

    def __init__(self, dim=32, heads=4, wide=64, hidden=24, classes=8):
        super().__init__()
        self.encoder = nn.TransformerEncoderLayer(dim, heads, wide, dropout=0.1, batch_first=True)
        self.lstm = nn.LSTM(dim, hidden, num_layers=2, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x):
        y, (hidden, _) = self.lstm(self.encoder(x))
        return self.head(y), hidden


def heads_of(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


class Attention(nn.Module):
    def __init__(self, dim, heads, context=None):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(context or dim, dim), nn.Linear(context or dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = heads_of(self.q(x), self.heads), heads_of(self.k(context), self.heads), heads_of(self.v(context), self.heads)
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2))


class CachedDecoder(nn.Module):
    """One step of decoding: this token's keys and values are written into a static cache, which attention then reads."""

    def __init__(self, length=8, dim=32, heads=4, wide=48):
        super().__init__()
        self.heads, self.length = heads, length
        self.norm, self.attention = nn.LayerNorm(dim), Attention(dim, heads)
        self.up, self.gate, self.down = nn.Linear(dim, wide), nn.Linear(dim, wide), nn.Linear(wide, dim)
        self.register_buffer("keys", torch.zeros(1, heads, length, dim // heads))
        self.register_buffer("values", torch.zeros(1, heads, length, dim // heads))

    def forward(self, x, position):
        one, y = self.attention, self.norm(x)
        q, k, v = heads_of(one.q(y), self.heads), heads_of(one.k(y), self.heads), heads_of(one.v(y), self.heads)
        with torch.no_grad():
            self.keys.index_copy_(2, position, k.detach().mean(0, keepdim=True))
            self.values.index_copy_(2, position, v.detach().mean(0, keepdim=True))
        mask = (torch.arange(self.length, device=x.device) <= position).view(1, 1, 1, -1)
        keys, values = self.keys.expand(x.shape[0], -1, -1, -1), self.values.expand(x.shape[0], -1, -1, -1)
        y = x + one.out(F.scaled_dot_product_attention(q, keys.clone(), values.clone(), attn_mask=mask).transpose(1, 2).flatten(2))
        return y + self.down(F.silu(self.gate(y)) * self.up(y))


class ResnetBlock2D(nn.Module):
    """Of a UNet: group norms, convolutions, and the embedding of a time step."""

    def __init__(self, inside=16, outside=24, time=20, groups=4):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(groups, inside), nn.Conv2d(inside, outside, 3, padding=1)
        self.time = nn.Linear(time, outside)
        self.norm2, self.drop, self.conv2 = nn.GroupNorm(groups, outside), nn.Dropout(0.1), nn.Conv2d(outside, outside, 3, padding=1)
        self.shortcut, self.scale = nn.Conv2d(inside, outside, 1), 1.0

    def forward(self, x, time):
        y = self.conv1(F.silu(self.norm1(x))) + self.time(F.silu(time))[:, :, None, None]
        return (self.shortcut(x) + self.conv2(self.drop(F.silu(self.norm2(y))))) / self.scale


class BasicTransformerBlock(nn.Module):
    """Self attention, cross attention and a gated feed-forward part."""

    def __init__(self, dim=32, context=24, heads=4, wide=64):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(3))
        self.own, self.cross = Attention(dim, heads), Attention(dim, heads, context)
        self.gated, self.out = nn.Linear(dim, 2 * wide), nn.Linear(wide, dim)

    def forward(self, x, context):
        x = x + self.own(self.norms[0](x))
        x = x + self.cross(self.norms[1](x), context)
        value, gate = self.gated(self.norms[2](x)).chunk(2, dim=-1)
        return x + self.out(value * F.gelu(gate))


class AutoencoderDecoder(nn.Module):
    """A block of an image decoder: two residual blocks, attention over pixels, nearest upsampling."""

    def __init__(self, dim=16, groups=4):
        super().__init__()
        self.norms = nn.ModuleList(nn.GroupNorm(groups, dim, eps=1e-6) for _ in range(3))
        self.convs = nn.ModuleList(nn.Conv2d(dim, dim, 3, padding=1) for _ in range(3))
        self.attention = Attention(dim, 1)

    def forward(self, x):
        for norm, conv in zip(self.norms[:2], self.convs[:2]):
            x = x + conv(F.silu(norm(x)))
        y = self.attention(self.norms[2](x).flatten(2).transpose(1, 2))
        x = x + y.transpose(1, 2).unflatten(2, x.shape[2:])
        return self.convs[2](F.interpolate(x, scale_factor=2.0, mode="nearest"))


class DiTBlock(nn.Module):
    """Layer norms without weights whose shift, scale and gate come from a condition."""

    def __init__(self, dim=32, heads=4, wide=64):
        super().__init__()
        self.norm1, self.norm2 = (nn.LayerNorm(dim, elementwise_affine=False, eps=1e-6) for _ in range(2))
        self.attention, self.modulation = Attention(dim, heads), nn.Linear(dim, 6 * dim)
        self.mlp = nn.Sequential(nn.Linear(dim, wide), nn.GELU(approximate="tanh"), nn.Linear(wide, dim))

    def forward(self, x, condition):
        shift1, scale1, gate1, shift2, scale2, gate2 = self.modulation(F.silu(condition)).unsqueeze(1).chunk(6, dim=-1)
        x = x + gate1 * self.attention(self.norm1(x) * (1 + scale1) + shift1)
        return x + gate2 * self.mlp(self.norm2(x) * (1 + scale2) + shift2)


class JointBlock(nn.Module):
    """Image and text tokens attend together, each with projections of its own, and leave apart."""

    def __init__(self, dim=32, heads=4, wide=48):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(2))
        self.qkv = nn.ModuleList(nn.Linear(dim, 3 * dim) for _ in range(2))
        self.outs = nn.ModuleList(nn.Linear(dim, dim) for _ in range(2))
        self.mlps = nn.ModuleList(nn.Sequential(nn.Linear(dim, wide), nn.GELU(), nn.Linear(wide, dim)) for _ in range(2))

    def forward(self, image, text):
        streams, parts = (image, text), []
        for stream, norm, qkv in zip(streams, self.norms, self.qkv):
            parts.append([heads_of(one, self.heads) for one in qkv(norm(stream)).chunk(3, dim=-1)])
        q, k, v = (torch.cat(pair, dim=2) for pair in zip(*parts))
        joint = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        results = []
        for stream, part, out, mlp in zip(streams, joint.split([image.shape[1], text.shape[1]], dim=1), self.outs, self.mlps):
            stream = stream + out(part)
            results.append(stream + mlp(stream))
        return tuple(results)


class Conformer(nn.Module):
    """A spectrum by a complex Fourier transform, a Conformer layer, and a count of which classes were predicted."""

    def __init__(self, dim=33, heads=3, wide=64, hop=32, kernel=3, classes=5):
        super().__init__()
        self.hop, self.classes = hop, classes
        self.register_buffer("window", torch.hann_window(2 * (dim - 1)))  # `dim` frequencies
        self.inward, self.outward = nn.Linear(dim, wide), nn.Linear(wide, dim)
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(4))
        self.attention = Attention(dim, heads)
        self.point, self.depth = nn.Conv1d(dim, 2 * dim, 1), nn.Conv1d(dim, dim, kernel, padding=kernel // 2, groups=dim)
        self.bn, self.head = nn.BatchNorm1d(dim), nn.Linear(dim, classes)

    def forward(self, wave):
        kind = wave.dtype
        if kind in (torch.float16, torch.bfloat16):  # Fourier transforms know them hardly
            wave = wave.float()
        spectrum = torch.stft(wave, len(self.window), hop_length=self.hop, window=self.window.to(wave.dtype), return_complex=True)
        x = torch.log1p(spectrum.abs()).transpose(1, 2).to(kind)
        x = x + 0.5 * self.outward(F.silu(self.inward(self.norms[0](x))))
        x = x + self.attention(self.norms[1](x))
        y = F.glu(self.point(self.norms[2](x).transpose(1, 2)), dim=1)
        x = x + F.silu(self.bn(self.depth(y))).transpose(1, 2)
        scores = self.head(self.norms[3](x))
        return scores, torch.bincount(scores.argmax(-1).flatten(), minlength=self.classes)


def mean_of_neighbours(x, edges):
    count = x.new_zeros(x.shape[0]).index_add(0, edges[1], x.new_ones(edges.shape[1])).clamp_min(1)
    return x.new_zeros(x.shape).index_add(0, edges[1], x[edges[0]]) / count[:, None]


class GraphConvolution(nn.Module):
    """GCNConv: a sum over neighbours and the node itself, weighed by the roots of both degrees."""

    def __init__(self, inside=16, outside=24):
        super().__init__()
        self.linear, self.bias = nn.Linear(inside, outside, bias=False), nn.Parameter(torch.zeros(outside))

    def forward(self, x, edges):
        loops = torch.arange(x.shape[0], device=x.device)
        source, target = torch.cat([edges[0], loops]), torch.cat([edges[1], loops])
        root = x.new_zeros(x.shape[0]).scatter_add(0, target, x.new_ones(target.shape[0])).rsqrt()
        y = self.linear(x)
        return torch.zeros_like(y).index_add(0, target, y[source] * (root[source] * root[target])[:, None]) + self.bias


class GraphAttention(nn.Module):
    """GATv2Conv: a softmax over each node's incoming edges."""

    def __init__(self, inside=16, dim=12, heads=2):
        super().__init__()
        self.heads, self.left, self.right = heads, nn.Linear(inside, heads * dim), nn.Linear(inside, heads * dim)
        self.score = nn.Parameter(torch.randn(1, heads, dim) * 0.3)

    def forward(self, x, edges):
        left, right = (one(x).unflatten(-1, (self.heads, -1)) for one in (self.left, self.right))
        alpha = (F.leaky_relu(left[edges[0]] + right[edges[1]], 0.2) * self.score).sum(-1)
        place = edges[1][:, None].expand_as(alpha)
        most = alpha.new_full((x.shape[0], self.heads), -1e9).scatter_reduce(0, place, alpha, "amax")
        alpha = (alpha - most[edges[1]]).exp()
        alpha = alpha / alpha.new_zeros(x.shape[0], self.heads).scatter_add(0, place, alpha)[edges[1]].clamp_min(1e-9)
        return torch.zeros_like(right).index_add(0, edges[1], left[edges[0]] * alpha[..., None]).flatten(1)


class GraphMean(nn.Module):
    """SAGEConv."""

    def __init__(self, inside=16, outside=24):
        super().__init__()
        self.neighbours, self.own = nn.Linear(inside, outside), nn.Linear(inside, outside, bias=False)

    def forward(self, x, edges):
        return self.neighbours(mean_of_neighbours(x, edges)) + self.own(x)


class GraphIsomorphism(nn.Module):
    """GINConv and a sum over the nodes of each graph."""

    def __init__(self, inside=16, wide=32, outside=24):
        super().__init__()
        self.eps, self.mlp = 0.1, nn.Sequential(nn.Linear(inside, wide), nn.BatchNorm1d(wide), nn.ReLU(), nn.Linear(wide, outside))

    def forward(self, x, edges, graph):
        y = self.mlp((1 + self.eps) * x + torch.zeros_like(x).index_add(0, edges[1], x[edges[0]]))
        return y.new_zeros(2, y.shape[1]).index_add(0, graph, y)


class ContinuousFilter(nn.Module):
    """SchNet's interaction: messages weighed by a network of the distance, with a smooth cut-off."""

    def __init__(self, dim=16, centers=10):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(centers, dim), nn.Softplus(), nn.Linear(dim, dim))
        self.inward, self.outward, self.last, self.cutoff = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim), nn.Linear(dim, dim), 5.0
        self.register_buffer("centers", torch.linspace(0, 5, centers))

    def forward(self, x, edges, distance):
        smooth = torch.exp(-((distance[:, None] - self.centers) ** 2))
        weight = self.filter(smooth) * (0.5 * (torch.cos(distance * torch.pi / self.cutoff) + 1))[:, None]
        y = self.inward(x)
        y = torch.zeros_like(y).index_add(0, edges[1], y[edges[0]] * weight)
        return x + self.last(F.softplus(self.outward(y)) - 0.6931)


class PrincipalNeighbours(nn.Module):
    """PNAConv: mean, largest, smallest and spread of the neighbours, each scaled by the degree."""

    def __init__(self, inside=16, outside=24):
        super().__init__()
        self.before, self.after = nn.Linear(2 * inside, inside), nn.Linear(9 * inside, outside)

    def forward(self, x, edges):
        message = self.before(torch.cat([x[edges[1]], x[edges[0]]], dim=-1))
        place, zeros = edges[1][:, None].expand_as(message), torch.zeros_like(x)
        degree = x.new_zeros(x.shape[0]).index_add(0, edges[1], x.new_ones(edges.shape[1])).clamp_min(1)[:, None]
        mean = zeros.index_add(0, edges[1], message) / degree
        square = zeros.index_add(0, edges[1], message * message) / degree
        parts = torch.cat([mean, zeros.scatter_reduce(0, place, message, "amax", include_self=False),
                           zeros.scatter_reduce(0, place, message, "amin", include_self=False),
                           ((square - mean * mean).relu() + 1e-5).sqrt()], dim=-1)
        return self.after(torch.cat([x, parts, parts * (degree + 1).log()], dim=-1))
