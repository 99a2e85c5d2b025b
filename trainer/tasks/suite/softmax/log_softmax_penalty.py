"""Log-softmax of rows and the entropy of the same distribution."""
import torch
import torch.nn as nn

rows = 4096
cols = 1000


class Model(nn.Module):
    def forward(self, x):
        logp = torch.log_softmax(x, dim=1)
        entropy = -(logp.exp() * logp).sum(dim=1, keepdim=True)
        return logp + 0.1 * entropy


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
