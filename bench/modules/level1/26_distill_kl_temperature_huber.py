import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Distillation: KL at temperature T, decoupled target/non-target split, weighted Huber hint, cosine term."""

    def __init__(self, s_feat, t_feat, temperature=4.0, delta=0.5, alpha=0.7):
        super().__init__()
        self.T = temperature
        self.delta = delta
        self.alpha = alpha
        self.regressor = nn.Linear(s_feat, t_feat)
        self.kl = nn.KLDivLoss(reduction="batchmean", log_target=True)

    def weighted_huber(self, pred, target, weight):
        err = pred - target
        abs_err = err.abs()
        quad = torch.minimum(abs_err, torch.full_like(abs_err, self.delta))
        lin = abs_err - quad
        loss = 0.5 * quad ** 2 + self.delta * lin
        per_sample = loss.mean(dim=-1) * weight
        return per_sample.sum() / weight.sum(), per_sample

    def forward(self, student_logits, teacher_logits, s_feat, t_feat, labels, weight):
        kl = self.kl(F.log_softmax(student_logits / self.T, dim=-1),
                     F.log_softmax(teacher_logits / self.T, dim=-1)) * (self.T ** 2)
        # DKD: target-class KL
        gt = torch.zeros_like(student_logits).scatter_(1, labels.unsqueeze(1), 1).bool()
        ps = F.softmax(student_logits / self.T, dim=1)
        pt = F.softmax(teacher_logits / self.T, dim=1)
        ps2 = torch.cat([(ps * gt).sum(1, keepdim=True), (ps * ~gt).sum(1, keepdim=True)], dim=1)
        pt2 = torch.cat([(pt * gt).sum(1, keepdim=True), (pt * ~gt).sum(1, keepdim=True)], dim=1)
        tckd = F.kl_div(torch.log(ps2), pt2, reduction="none").sum(1) * self.T ** 2
        nckd = F.kl_div(F.log_softmax(student_logits / self.T - 1000.0 * gt, dim=1),
                        F.softmax(teacher_logits / self.T - 1000.0 * gt, dim=1),
                        reduction="batchmean") * self.T ** 2
        hint = self.regressor(s_feat)
        huber, per_sample = self.weighted_huber(hint, t_feat, weight)
        smooth = F.smooth_l1_loss(hint, t_feat, beta=0.1)
        cos = 1 - F.cosine_similarity(hint, t_feat, dim=-1)
        ce = F.cross_entropy(student_logits, labels)
        total = (1 - self.alpha) * ce + self.alpha * kl + 0.1 * huber + nckd + smooth
        return total, kl, tckd, cos, per_sample


BATCH = 16384
CLASSES = 1000
S_FEAT = 384
T_FEAT = 768


def get_inputs():
    return [
        torch.randn(BATCH, CLASSES) * (1 + 3 * torch.rand(BATCH, 1)),
        torch.randn(BATCH, CLASSES) * (1 + 3 * torch.rand(1, CLASSES)),
        torch.randn(BATCH, S_FEAT),
        torch.randn(BATCH, T_FEAT),
        torch.randint(0, CLASSES, (BATCH,)),
        torch.rand(BATCH) + 0.1,
    ]


def get_init_inputs():
    return [S_FEAT, T_FEAT]
