import torch
import torch.nn as nn
import torch.nn.functional as F


class LabelSmoothedCrossEntropy(nn.Module):
    """fairseq's label_smoothed_nll_loss."""

    def __init__(self, epsilon, ignore_index=-100):
        super().__init__()
        self.epsilon = epsilon
        self.ignore_index = ignore_index

    def forward(self, lprobs, target):
        target = target.unsqueeze(-1)
        pad_mask = target.eq(self.ignore_index)
        safe = target.masked_fill(pad_mask, 0)
        nll_loss = -lprobs.gather(dim=-1, index=safe)
        smooth_loss = -lprobs.sum(dim=-1, keepdim=True)
        nll_loss = nll_loss.masked_fill(pad_mask, 0.0)
        smooth_loss = smooth_loss.masked_fill(pad_mask, 0.0)
        eps_i = self.epsilon / (lprobs.size(-1) - 1)
        loss = (1.0 - self.epsilon - eps_i) * nll_loss + eps_i * smooth_loss
        return loss.sum(), nll_loss.squeeze(-1)


class Model(nn.Module):
    def __init__(self, epsilon=0.1, z_loss=1e-3):
        super().__init__()
        self.criterion = LabelSmoothedCrossEntropy(epsilon)
        self.ce = nn.CrossEntropyLoss(ignore_index=-100, label_smoothing=epsilon, reduction="mean")
        self.z_loss = z_loss

    def forward(self, logits, labels, loss_mask):
        labels = labels.masked_fill(~loss_mask, -100)
        shift_logits = logits[..., :-1, :].contiguous()
        shift_labels = labels[..., 1:].contiguous()
        lprobs = F.log_softmax(shift_logits.float(), dim=-1)
        smoothed, nll = self.criterion(lprobs, shift_labels)
        n_tok = shift_labels.ne(-100).sum()
        torch_ce = self.ce(shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1))
        lse = torch.logsumexp(shift_logits, dim=-1)
        z = self.z_loss * (lse.square() * shift_labels.ne(-100)).sum() / n_tok
        return smoothed / n_tok + z, torch_ce, nll


batch = 4
seq = 256
vocab = 50257


def get_inputs():
    return [
        torch.randn(batch, seq, vocab) * (0.5 + 2.5 * torch.rand(batch, seq, 1)),
        torch.randint(0, vocab, (batch, seq)),
        torch.rand(batch, seq) > 0.25,
    ]


def get_init_inputs():
    return []
