import torch
import torch.nn as nn
import torch.nn.functional as F


def create_mlp(ln, sigmoid_layer=-1):
    layers = nn.ModuleList()
    for i in range(0, len(ln) - 1):
        layers.append(nn.Linear(int(ln[i]), int(ln[i + 1]), bias=True))
        layers.append(nn.Sigmoid() if i == sigmoid_layer else nn.ReLU())
    return nn.Sequential(*layers)


class Model(nn.Module):
    """DLRM: bottom MLP, EmbeddingBags with flat indices and offsets, pairwise dots (lower triangle), top MLP."""

    def __init__(self, num_dense, num_tables, rows, dim):
        super().__init__()
        self.emb_l = nn.ModuleList([nn.EmbeddingBag(rows, dim, mode="sum", include_last_offset=False)
                                    for _ in range(num_tables)])
        for e in self.emb_l:
            nn.init.normal_(e.weight, std=0.25)
        self.bot_l = create_mlp([num_dense, 4 * dim, 2 * dim, dim])
        ni = num_tables + 1
        num_int = ni * (ni - 1) // 2 + dim
        self.top_l = nn.Sequential(
            nn.Linear(num_int, 8 * dim), nn.ReLU(),
            nn.Linear(8 * dim, 4 * dim), nn.ReLU(),
            nn.Linear(4 * dim, 1),
        )
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    def apply_emb(self, lS_o, lS_i):
        ly = []
        for k, E in enumerate(self.emb_l):
            ly.append(E(lS_i[k], lS_o[k]))
        return ly

    def interact_features(self, x, ly):
        (batch_size, d) = x.shape
        T = torch.cat([x] + ly, dim=1).view((batch_size, -1, d))
        Z = torch.bmm(T, torch.transpose(T, 1, 2))
        _, ni, nj = Z.shape
        li = torch.tensor([i for i in range(ni) for j in range(i)], device=x.device)
        lj = torch.tensor([j for i in range(nj) for j in range(i)], device=x.device)
        Zflat = Z[:, li, lj]
        return torch.cat([x] + [Zflat], dim=1)

    def forward(self, dense_x, lS_o, lS_i):
        x = self.bot_l(torch.log1p(dense_x))
        ly = self.apply_emb(lS_o, lS_i)
        z = self.interact_features(x, ly)
        return self.top_l(z)


BATCH = 32768
NUM_DENSE = 13
NUM_TABLES = 26
ROWS = 20000
DIM = 64
BAG = 3


def get_inputs():
    dense = torch.rand(BATCH, NUM_DENSE) * 10
    # ragged bags, some of them empty
    offsets = torch.randint(0, BATCH * BAG, (NUM_TABLES, BATCH)).sort(dim=1).values
    offsets[:, 0] = 0
    indices = torch.randint(0, ROWS, (NUM_TABLES, BATCH * BAG))
    return [dense, offsets, indices]


def get_init_inputs():
    return [NUM_DENSE, NUM_TABLES, ROWS, DIM]
