import torch
import torch.nn as nn
import torch.nn.functional as F

NUM_POINTS = 262144
LEVELS = 8
FEATURES = 2
TABLE_SIZE = 524288
BASE_RES = 16
GROWTH = 1.5
HIDDEN = 64


class Model(nn.Module):
    """Instant-NGP style multi-resolution hash grid encoding with trilinear blending, then a tiny MLP."""

    def __init__(self, levels, features, table_size, base_res, growth, hidden):
        super().__init__()
        self.levels = levels
        self.table_size = table_size
        self.resolutions = [int(base_res * growth ** i) for i in range(levels)]
        self.tables = nn.Parameter(torch.rand(levels, table_size, features) * 2.0 - 1.0)
        corners = torch.arange(8)
        offsets = torch.stack(
            [torch.remainder(torch.div(corners, 2 ** d, rounding_mode="floor"), 2) for d in range(3)], dim=-1
        )
        self.register_buffer("offsets", offsets)
        self.mlp = nn.Sequential(nn.Linear(levels * features, hidden), nn.ReLU(), nn.Linear(hidden, 4))

    def _hash(self, idx):
        x, y, z = idx.unbind(-1)
        h = torch.bitwise_xor(x, y * 2654435761)
        h = torch.bitwise_xor(h, z * 805459861)
        return torch.remainder(h, self.table_size)

    def forward(self, points):
        encoded = []
        for level, res in enumerate(self.resolutions):
            scaled = points * res
            base = torch.floor(scaled)
            frac = scaled - base
            idx = base.long().unsqueeze(1) + self.offsets.unsqueeze(0)
            feats = self.tables[level][self._hash(idx)]
            w = torch.where(self.offsets.unsqueeze(0) == 1, frac.unsqueeze(1), 1.0 - frac.unsqueeze(1))
            w = w.prod(dim=-1, keepdim=True)
            encoded.append((feats * w).sum(dim=1))
        out = self.mlp(torch.cat(encoded, dim=-1))
        rgb = torch.sigmoid(out[:, :3])
        density = F.softplus(out[:, 3:] - 1.0)
        return rgb, density


def get_inputs():
    return [torch.rand(NUM_POINTS, 3)]


def get_init_inputs():
    return [LEVELS, FEATURES, TABLE_SIZE, BASE_RES, GROWTH, HIDDEN]
