"""A decoder layer of Phi-3 mini over a prompt of 512 tokens."""
import torch
import torch.nn as nn
from transformers import Phi3Config
from transformers.models.phi3.modeling_phi3 import Phi3DecoderLayer

DTYPE = torch.float32


def rotations(width, length):
    angles = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, width, 2).float() / width))
    both = torch.cat([angles, angles], -1)[None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = Phi3Config(hidden_size=3072, intermediate_size=8192, num_attention_heads=32, num_key_value_heads=32)
        config._attn_implementation = "sdpa"
        self.layer = Phi3DecoderLayer(config, 0)
        self.to(DTYPE)

    def forward(self, x, cos, sin):
        y = self.layer(x, position_embeddings=(cos, sin), attention_mask=None)
        return y[0] if isinstance(y, tuple) else y


def get_inputs():
    return [torch.randn(1, 512, 3072).to(DTYPE), *rotations(96, 512)]


def get_init_inputs():
    return []
