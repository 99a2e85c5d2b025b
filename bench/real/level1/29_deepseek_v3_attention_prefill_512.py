"""DeepSeek V3's latent attention over a prompt of 512 tokens, with the 16 of 128 heads that one of eight GPUs computes."""
import torch
import torch.nn as nn
from transformers import DeepseekV3Config
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3Attention

DTYPE = torch.float32


def rotations(width, length):
    angles = torch.outer(torch.arange(length).float(), 10000.0 ** (-torch.arange(0, width, 2).float() / width))
    both = torch.cat([angles, angles], -1)[None]
    return both.cos().to(DTYPE), both.sin().to(DTYPE)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = DeepseekV3Config(hidden_size=7168, num_attention_heads=16, num_key_value_heads=16, q_lora_rank=1536, kv_lora_rank=512)
        config._attn_implementation = "sdpa"
        self.layer = DeepseekV3Attention(config, 0)
        self.to(DTYPE)

    def forward(self, x, cos, sin):
        y = self.layer(x, position_embeddings=(cos, sin), attention_mask=None)
        return y[0] if isinstance(y, tuple) else y


def get_inputs():
    return [torch.randn(1, 512, 7168).to(DTYPE), *rotations(64, 512)]


def get_init_inputs():
    return []
