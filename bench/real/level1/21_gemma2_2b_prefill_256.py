"""A decoder layer of Gemma 2 2B over two prompts of 256 tokens, with soft caps on its attention."""
import torch
import torch.nn as nn
from transformers import Gemma2Config
from transformers.models.gemma2.modeling_gemma2 import Gemma2DecoderLayer

DTYPE = torch.float32


def rotations(width, length):
    angles = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, width, 2).float() / width))
    both = torch.cat([angles, angles], -1)[None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = Gemma2Config(hidden_size=2304, intermediate_size=9216, num_attention_heads=8, num_key_value_heads=4, head_dim=256)
        config._attn_implementation = "eager"
        self.layer = Gemma2DecoderLayer(config, 1)
        mask = torch.full((256, 256), float("-inf")).triu(1)
        self.register_buffer("mask", mask[None, None], persistent=False)
        self.to(DTYPE)

    def forward(self, x, cos, sin):
        y = self.layer(x, position_embeddings=(cos, sin), attention_mask=self.mask)
        return y[0] if isinstance(y, tuple) else y


def get_inputs():
    return [torch.randn(2, 256, 2304).to(DTYPE), *rotations(256, 256)]


def get_init_inputs():
    return []
