"""The gated MLP of Gemma, with the tanh form of GELU."""
import torch
import torch.nn as nn
from transformers import GemmaConfig
from transformers.models.gemma.modeling_gemma import GemmaMLP

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = GemmaConfig(hidden_size=1024, intermediate_size=4096, head_dim=64)
        self.layer = GemmaMLP(config)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 256, 1024).to(DTYPE)]


def get_init_inputs():
    return []
