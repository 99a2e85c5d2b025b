"""The norm of Llama."""
import torch
import torch.nn as nn
from transformers.models.llama.modeling_llama import LlamaRMSNorm

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = LlamaRMSNorm(4096, eps=1e-5)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 512, 4096).to(DTYPE)]


def get_init_inputs():
    return []
