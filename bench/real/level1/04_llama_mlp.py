"""The gated MLP of Llama."""
import torch
import torch.nn as nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = LlamaConfig(hidden_size=1024, intermediate_size=2816)
        self.layer = LlamaMLP(config)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 256, 1024).to(DTYPE)]


def get_init_inputs():
    return []
