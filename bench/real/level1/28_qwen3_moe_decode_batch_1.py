"""The experts of Qwen3 30B-A3B for one token, of which one of four GPUs holds 32: eight are chosen."""
import torch
import torch.nn as nn
from transformers import Qwen3MoeConfig
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeSparseMoeBlock

DTYPE = torch.float32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        config = Qwen3MoeConfig(hidden_size=2048, moe_intermediate_size=768, num_experts=32, num_experts_per_tok=8, norm_topk_prob=True,
                                experts_implementation="batched_mm")
        self.layer = Qwen3MoeSparseMoeBlock(config)
        for one in self.parameters():
            nn.init.normal_(one, std=0.02)
        self.to(DTYPE)

    def forward(self, x):
        y = self.layer(x)
        return y[0] if isinstance(y, tuple) else y


def get_inputs():
    return [torch.randn(1, 1, 2048).to(DTYPE)]


def get_init_inputs():
    return []
