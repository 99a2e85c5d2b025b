"""Mamba 130M with one layer over 64 tokens, whose states follow one another in a loop."""
import torch
import torch.nn as nn
from transformers import MambaConfig, MambaModel

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = MambaModel(MambaConfig(vocab_size=99, hidden_size=768, num_hidden_layers=1, state_size=16, expand=2, conv_kernel=4))
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(inputs_embeds=x, use_cache=False)[0]


def get_inputs():
    return [torch.randn(1, 64, 768).to(DTYPE)]


def get_init_inputs():
    return []
