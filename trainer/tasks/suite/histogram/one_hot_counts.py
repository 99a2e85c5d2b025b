"""Share of each of 32 classes in rows of labels, through comparisons with all classes."""
import torch
import torch.nn as nn

rows = 512
cols = 1024


class Model(nn.Module):
    def forward(self, labels, weight):
        classes = torch.arange(32, device=labels.device)
        hits = (labels.unsqueeze(-1) == classes).float()
        return (hits * weight.unsqueeze(-1)).sum(dim=1) / weight.sum(dim=1, keepdim=True)


def get_inputs():
    return [torch.randint(0, 32, (rows, cols)), torch.rand(rows, cols) + 0.1]


def get_init_inputs():
    return []
