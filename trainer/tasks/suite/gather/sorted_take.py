"""Values of each row at given places, centred on their mean."""
import torch
import torch.nn as nn

rows = 4096
cols = 1024
taken = 32


class Model(nn.Module):
    def forward(self, x, places):
        y = torch.gather(x, 1, places)
        return y - y.mean(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, cols), torch.randint(0, cols, (rows, taken))]


def get_init_inputs():
    return []
