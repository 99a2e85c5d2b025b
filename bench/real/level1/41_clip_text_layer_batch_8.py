"""A layer of CLIP's text encoder for eight texts of 77 tokens, with a causal mask."""
import inspect

import torch
import torch.nn as nn
from transformers import CLIPTextConfig
from transformers.models.clip.modeling_clip import CLIPEncoderLayer

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = CLIPTextConfig(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
        config._attn_implementation = "sdpa"
        self.layer = CLIPEncoderLayer(config)
        self.register_buffer("mask", torch.full((77, 77), float("-inf")).triu(1).expand(8, 1, 77, 77).clone(), persistent=False)
        parameters = inspect.signature(self.layer.forward).parameters
        self.name = "causal_attention_mask" if "causal_attention_mask" in parameters else "attention_mask"
        self.absent = {"attention_mask": None} if self.name != "attention_mask" else {}
        self.to(DTYPE)

    def forward(self, x):
        y = self.layer(x, **{self.name: self.mask}, **self.absent)
        return y[0] if isinstance(y, tuple) else y


def get_inputs():
    return [torch.randn(8, 77, 768).to(DTYPE)]


def get_init_inputs():
    return []
