import torch
import torch.nn as nn

BATCH = 8
NUM_A = 2048
NUM_B = 1536
DIM = 3
K = 5


class Model(nn.Module):
    """Chamfer and soft Hausdorff distances between point clouds, and a kNN-based outlier score."""

    def __init__(self, k, beta):
        super().__init__()
        self.k = k
        self.beta = beta

    @staticmethod
    def square_distance(src, dst):
        dist = -2 * torch.matmul(src, dst.permute(0, 2, 1))
        dist = dist + torch.sum(src ** 2, -1).unsqueeze(-1)
        dist = dist + torch.sum(dst ** 2, -1).unsqueeze(-2)
        return dist.clamp(min=0.0)

    def forward(self, a, b):
        d = self.square_distance(a, b)
        a2b, _ = d.min(dim=2)
        b2a, _ = d.min(dim=1)
        chamfer = a2b.mean(dim=1) + b2a.mean(dim=1)
        hausdorff = -torch.logsumexp(-self.beta * d, dim=2) / self.beta
        knn, _ = torch.topk(torch.sqrt(d + 1e-6), self.k, dim=2, largest=False, sorted=True)
        local = knn.mean(dim=-1)
        score = (local - local.mean(dim=1, keepdim=True)) / (local.std(dim=1, keepdim=True) + 1e-6)
        return chamfer, hausdorff.amax(dim=1), knn, score


def get_inputs():
    return [torch.randn(BATCH, NUM_A, DIM), torch.randn(BATCH, NUM_B, DIM)]


def get_init_inputs():
    return [K, 20.0]
