"""Token and position embeddings added, then a layer normalisation."""
import torch
import torch.nn as nn

batch = 16
steps = 512
width = 512


class Model(nn.Module):
    def __init__(self, steps, width):
        super().__init__()
        self.tokens = nn.Embedding(8000, width)
        self.positions = nn.Embedding(steps, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        positions = torch.arange(ids.shape[1], device=ids.device)
        return self.norm(self.tokens(ids) + self.positions(positions))


def get_inputs():
    return [torch.randint(0, 8000, (batch, steps))]


def get_init_inputs():
    return [steps, width]
