"""Graph attention with eight heads, for 20000 nodes with eight neighbours each."""
import torch
import torch.nn as nn
from torch_geometric.nn import GATv2Conv

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = GATv2Conv(128, 32, heads=8, add_self_loops=False)
        self.to(DTYPE)

    def forward(self, x, edges):
        return self.layer(x, edges)


def get_inputs():
    edges = torch.stack([torch.randint(20000, (160000,)), torch.arange(160000) % 20000])
    return [torch.randn(20000, 128).to(DTYPE), edges]


def get_init_inputs():
    return []
