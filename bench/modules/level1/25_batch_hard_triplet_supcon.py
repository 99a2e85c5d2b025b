import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Person re-id head: batch-hard triplet (soft and hard margin), SupCon, and a plain triplet on rolled pairs."""

    def __init__(self, feat, margin=0.3, temperature=0.1):
        super().__init__()
        self.margin = margin
        self.temperature = temperature
        self.proj = nn.Sequential(nn.Linear(feat, feat), nn.ReLU(inplace=True), nn.Linear(feat, 128))
        self.triplet = nn.TripletMarginLoss(margin=0.2, p=2, swap=True, reduction="none")

    def pairwise(self, x):
        m = x.size(0)
        sq = torch.pow(x, 2).sum(1, keepdim=True).expand(m, m)
        dist = sq + sq.t()
        dist = torch.addmm(dist, x, x.t(), beta=1, alpha=-2)
        eye = torch.eye(m, dtype=torch.bool, device=x.device)
        return dist.masked_fill(eye, 0.0).clamp(min=1e-12).sqrt()

    def forward(self, x, labels):
        n = x.size(0)
        dist = self.pairwise(x)
        is_pos = labels.expand(n, n).eq(labels.expand(n, n).t())
        dist_ap = torch.where(is_pos, dist, torch.zeros_like(dist)).max(dim=1).values
        dist_an = dist.masked_fill(is_pos, float("inf")).min(dim=1)[0]
        hard = F.relu(dist_ap - dist_an + self.margin).mean()
        soft = F.softplus(dist_ap - dist_an).mean()

        z = F.normalize(self.proj(x), dim=1)
        logits = torch.div(torch.matmul(z, z.T), self.temperature)
        logits = logits - logits.max(dim=1, keepdim=True)[0].detach()
        logits_mask = 1 - torch.eye(n, device=x.device)
        mask = is_pos.float() * logits_mask
        exp_logits = torch.exp(logits) * logits_mask
        log_prob = logits - torch.log(exp_logits.sum(1, keepdim=True))
        supcon = -(mask * log_prob).sum(1) / (mask.sum(1) + 1e-6)

        tri = self.triplet(z, torch.roll(z, 1, 0), torch.roll(z, -1, 0))
        return hard, soft, supcon, tri, dist_ap, dist_an


N = 4096
FEAT = 512
NUM_IDS = 512


def get_inputs():
    return [torch.randn(N, FEAT), torch.randint(0, NUM_IDS, (N,))]


def get_init_inputs():
    return [FEAT]
