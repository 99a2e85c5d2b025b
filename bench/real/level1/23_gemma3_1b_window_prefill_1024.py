"""A layer of Gemma 3 1B whose attention sees a window of 512 tokens, over a prompt of 1024."""
import inspect

import torch
import torch.nn as nn
from transformers import Gemma3TextConfig
from transformers.models.gemma3.modeling_gemma3 import Gemma3DecoderLayer

DTYPE = torch.float32


def rotations(width, length):
    angles = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, width, 2).float() / width))
    both = torch.cat([angles, angles], -1)[None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = Gemma3TextConfig(hidden_size=1152, intermediate_size=6912, num_attention_heads=4, num_key_value_heads=1, head_dim=256,
                                  sliding_window=512)
        config._attn_implementation = "sdpa"
        self.layer = Gemma3DecoderLayer(config, 0)
        distance = torch.arange(1024)[:, None] - torch.arange(1024)[None]
        self.register_buffer("mask", ((distance >= 0) & (distance < 512))[None, None], persistent=False)
        known = inspect.signature(self.layer.forward).parameters
        self.positions = [name for name in known if name.startswith("position_embeddings")]
        self.to(DTYPE)

    def forward(self, x, cos, sin):
        y = self.layer(x, **{name: (cos, sin) for name in self.positions}, attention_mask=self.mask)
        return y[0] if isinstance(y, tuple) else y


def get_inputs():
    return [torch.randn(1, 1024, 1152).to(DTYPE), *rotations(256, 1024)]


def get_init_inputs():
    return []
