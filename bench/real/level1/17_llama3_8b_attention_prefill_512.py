"""The attention of Llama 3.1 8B over two prompts of 512 tokens."""
import torch
import torch.nn as nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaAttention

DTYPE = torch.float32


def rotations(width, length):
    angles = torch.outer(torch.arange(length).float(), 500000.0 ** (-torch.arange(0, width, 2).float() / width))
    both = torch.cat([angles, angles], -1)[None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = LlamaConfig(hidden_size=4096, intermediate_size=14336, num_attention_heads=32, num_key_value_heads=8)
        config._attn_implementation = "sdpa"
        self.layer = LlamaAttention(config, 0)
        self.to(DTYPE)

    def forward(self, x, cos, sin):
        y = self.layer(x, position_embeddings=(cos, sin), attention_mask=None)
        return y[0] if isinstance(y, tuple) else y


def get_inputs():
    return [torch.randn(2, 512, 4096).to(DTYPE), *rotations(128, 512)]


def get_init_inputs():
    return []
