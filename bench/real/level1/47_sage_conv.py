"""A GraphSAGE layer at the sizes of Reddit's features, for 30000 sampled nodes with ten neighbours each."""
import torch
import torch.nn as nn
from torch_geometric.nn import SAGEConv

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = SAGEConv(602, 256)
        self.to(DTYPE)

    def forward(self, x, edges):
        return self.layer(x, edges)


def get_inputs():
    edges = torch.stack([torch.randint(30000, (300000,)), torch.arange(300000) % 30000])
    return [torch.randn(30000, 602).to(DTYPE), edges]


def get_init_inputs():
    return []
