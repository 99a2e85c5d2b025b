import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Segmentation loss: class-weighted focal + soft dice + Tversky, returned as a dict."""

    def __init__(self, classes, gamma=2.0, smooth=1.0, alpha=0.3, beta=0.7):
        super().__init__()
        self.classes, self.gamma, self.smooth = classes, gamma, smooth
        self.alpha, self.beta = alpha, beta
        self.register_buffer("class_weight", torch.linspace(0.5, 1.5, classes))

    def focal(self, logits, target):
        logp = F.log_softmax(logits, dim=1)
        logpt = logp.gather(1, target.unsqueeze(1)).squeeze(1)
        pt = logpt.exp()
        at = self.class_weight[target]
        return -1 * at * (1 - pt) ** self.gamma * logpt

    def forward(self, logits, target):
        fl = self.focal(logits, target)
        probs = torch.softmax(logits, dim=1)
        onehot = F.one_hot(target, num_classes=self.classes).permute(0, 3, 1, 2).float()
        dims = (2, 3)
        inter = torch.sum(probs * onehot, dims)
        card = torch.sum(probs + onehot, dims)
        dice = (2.0 * inter + self.smooth) / (card + self.smooth)
        fp = ((1 - onehot) * probs).sum(dims)
        fn = (onehot * (1 - probs)).sum(dims)
        tversky = (inter + self.smooth) / (inter + self.alpha * fp + self.beta * fn + self.smooth)
        dice_loss = 1.0 - dice.mean()
        total = fl.mean() + dice_loss + (1 - tversky).pow(0.75).mean()
        return {"loss": total, "focal_map": fl, "dice_per_class": dice.mean(dim=0), "tversky": tversky}


N = 8
CLASSES = 19
H = 256
W = 512


def get_inputs():
    logits = torch.randn(N, CLASSES, H, W) * 1.5 + torch.randn(N, CLASSES, 1, 1)
    return [logits, torch.randint(0, CLASSES, (N, H, W))]


def get_init_inputs():
    return [CLASSES]
