import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
POINTS = 1024
NEIGHBORS = 20
FEATS = 16
OUT = 64


class Model(nn.Module):
    """DGCNN EdgeConv: neighbours by Euclidean distance, gather, [x_j - x_i, x_i] conv, max over neighbours."""

    def __init__(self, feats, out, k):
        super().__init__()
        self.k = k
        self.conv = nn.Sequential(
            nn.Conv2d(2 * (3 + feats), out, kernel_size=1, bias=False),
            nn.BatchNorm2d(out),
            nn.LeakyReLU(negative_slope=0.2),
        )
        self.global_fc = nn.Linear(2 * out, out)

    def forward(self, xyz, feats):
        b, n, _ = xyz.shape
        delta = xyz.unsqueeze(2) - xyz.unsqueeze(1)
        dist = (delta ** 2).sum(-1)
        idx = dist.topk(k=self.k, dim=-1, largest=False)[1]

        x = torch.cat([xyz, feats], dim=-1)
        base = torch.arange(b, device=x.device).view(-1, 1, 1) * n
        flat = (idx + base).view(-1)
        neigh = x.reshape(b * n, -1)[flat, :].view(b, n, self.k, -1)
        center = x.view(b, n, 1, -1).expand(-1, -1, self.k, -1)
        edge = torch.cat((neigh - center, center), dim=3).permute(0, 3, 1, 2).contiguous()

        h = self.conv(edge)
        local = h.max(dim=-1, keepdim=False)[0]
        pooled = torch.cat([F.adaptive_max_pool1d(local, 1), F.adaptive_avg_pool1d(local, 1)], dim=1).squeeze(-1)
        return local, F.leaky_relu(self.global_fc(pooled), 0.2)


def get_inputs():
    return [torch.rand(BATCH, POINTS, 3), torch.randn(BATCH, POINTS, FEATS)]


def get_init_inputs():
    return [FEATS, OUT, NEIGHBORS]
