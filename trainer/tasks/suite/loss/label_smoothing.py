"""Cross entropy with smoothed labels, written out."""
import torch
import torch.nn as nn

rows = 4096
classes = 1000


class Model(nn.Module):
    def forward(self, scores, labels):
        logp = torch.log_softmax(scores, dim=-1)
        hit = logp.gather(1, labels[:, None]).squeeze(1)
        return -(0.9 * hit + 0.1 * logp.mean(dim=-1)).mean()


def get_inputs():
    return [torch.randn(rows, classes), torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return []
