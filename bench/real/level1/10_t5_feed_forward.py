"""The feed-forward part of a T5 layer, with its norm and dropout."""
import torch
import torch.nn as nn
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5LayerFF

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = T5Config(d_model=768, d_ff=2048, feed_forward_proj="gated-gelu")
        self.layer = T5LayerFF(config)
        self.to(DTYPE)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(4, 256, 768).to(DTYPE)]


def get_init_inputs():
    return []
