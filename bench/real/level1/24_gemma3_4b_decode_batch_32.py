"""A layer of Gemma 3 4B with full attention that decodes a token of each of 32 sequences after 512 others."""
import inspect

import torch
import torch.nn as nn
from transformers import Gemma3TextConfig
from transformers.models.gemma3.modeling_gemma3 import Gemma3DecoderLayer

DTYPE = torch.float32


def rotation(width, position):
    angles = position * 1000000.0 ** (-torch.arange(0, width, 2).float() / width)
    both = torch.cat([angles, angles])[None, None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


class Past:
    """Keys and values of earlier tokens, which the layer adds its own to."""

    def __init__(self, keys, values):
        self.keys, self.values = keys, values

    def update(self, keys, values, *rest, **more):
        self.keys, self.values = torch.cat([self.keys, keys], 2), torch.cat([self.values, values], 2)
        return self.keys, self.values


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = Gemma3TextConfig(hidden_size=2560, intermediate_size=10240, num_attention_heads=8, num_key_value_heads=4, head_dim=256)
        config._attn_implementation = "sdpa"
        self.layer = Gemma3DecoderLayer(config, 5)
        known = inspect.signature(self.layer.forward).parameters
        self.past = "past_key_value" if "past_key_value" in known else "past_key_values"
        self.positions = [name for name in known if name.startswith("position_embeddings")]
        self.to(DTYPE)

    def forward(self, x, cos, sin, keys, values):
        past = Past(keys, values)
        y = self.layer(x, **{name: (cos, sin) for name in self.positions}, attention_mask=None, **{self.past: past})
        return (y[0] if isinstance(y, tuple) else y), past.keys, past.values


def get_inputs():
    past = [torch.randn(32, 4, 512, 256).to(DTYPE) for _ in range(2)]
    return [torch.randn(32, 1, 2560).to(DTYPE), *rotation(256, 512), *past]


def get_init_inputs():
    return []
