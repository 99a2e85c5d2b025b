"""A lookup written as a product with one-hot rows."""
import torch
import torch.nn as nn

rows = 2048
classes = 512
width = 128


class Model(nn.Module):
    def __init__(self, classes, width):
        super().__init__()
        self.classes = classes
        self.table = nn.Parameter(torch.randn(classes, width))

    def forward(self, labels):
        known = torch.arange(self.classes, device=labels.device)
        return (labels[:, None] == known).float() @ self.table


def get_inputs():
    return [torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return [classes, width]
