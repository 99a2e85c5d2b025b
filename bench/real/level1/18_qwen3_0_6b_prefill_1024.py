"""A decoder layer of Qwen3 0.6B over a prompt of 1024 tokens."""
import torch
import torch.nn as nn
from transformers import Qwen3Config
from transformers.models.qwen3.modeling_qwen3 import Qwen3DecoderLayer

DTYPE = torch.float32


def rotations(width, length):
    angles = torch.outer(torch.arange(length).float(), 1000000.0 ** (-torch.arange(0, width, 2).float() / width))
    both = torch.cat([angles, angles], -1)[None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = Qwen3Config(hidden_size=1024, intermediate_size=3072, num_attention_heads=16, num_key_value_heads=8, head_dim=128)
        config._attn_implementation = "sdpa"
        self.layer = Qwen3DecoderLayer(config, 0)
        self.to(DTYPE)

    def forward(self, x, cos, sin):
        y = self.layer(x, position_embeddings=(cos, sin), attention_mask=None)
        return y[0] if isinstance(y, tuple) else y


def get_inputs():
    return [torch.randn(1, 1024, 1024).to(DTYPE), *rotations(128, 1024)]


def get_init_inputs():
    return []
