"""A decoder layer of Gemma 2 2B that decodes one token after 1024 others, with soft caps on its attention."""
import inspect

import torch
import torch.nn as nn
from transformers import Gemma2Config
from transformers.models.gemma2.modeling_gemma2 import Gemma2DecoderLayer

DTYPE = torch.float32


def rotation(width, position):
    angles = position * 10000.0 ** (-torch.arange(0, width, 2).float() / width)
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
        config = Gemma2Config(hidden_size=2304, intermediate_size=9216, num_attention_heads=8, num_key_value_heads=4, head_dim=256)
        config._attn_implementation = "eager"
        self.layer = Gemma2DecoderLayer(config, 1)
        known = inspect.signature(self.layer.forward).parameters
        self.past = "past_key_value" if "past_key_value" in known else "past_key_values"
        self.to(DTYPE)

    def forward(self, x, cos, sin, keys, values):
        past = Past(keys, values)
        y = self.layer(x, position_embeddings=(cos, sin), attention_mask=None, **{self.past: past})
        return (y[0] if isinstance(y, tuple) else y), past.keys, past.values


def get_inputs():
    past = [torch.randn(1, 4, 1024, 256).to(DTYPE) for _ in range(2)]
    return [torch.randn(1, 1, 2304).to(DTYPE), *rotation(256, 1024), *past]


def get_init_inputs():
    return []
