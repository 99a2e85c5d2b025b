"""DoRA adapter over an NF4 base weight with double-quantised absmax (QLoRA layout)."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

NF4_CODE = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
]


def quantize_nf4(w, code, blocksize, nested_blocksize):
    blocks = w.reshape(-1, blocksize)
    absmax = blocks.abs().amax(dim=1)
    boundaries = (code[1:] + code[:-1]) / 2
    idx = torch.bucketize(blocks / absmax[:, None], boundaries).to(torch.uint8).reshape(-1)
    packed = (idx[0::2] << 4) | idx[1::2]
    offset = absmax.mean()
    nested = (absmax - offset).reshape(-1, nested_blocksize)
    nested_absmax = nested.abs().amax(dim=1, keepdim=True)
    q = torch.round(nested / nested_absmax * 127).to(torch.int8)
    return packed, q, nested_absmax, offset


class NF4Linear(nn.Module):
    def __init__(self, in_features, out_features, blocksize=64, nested_blocksize=256):
        super().__init__()
        self.in_features, self.out_features, self.blocksize = in_features, out_features, blocksize
        code = torch.tensor(NF4_CODE)
        w = torch.randn(out_features, in_features) / math.sqrt(in_features)
        packed, q, s, o = quantize_nf4(w, code, blocksize, nested_blocksize)
        self.register_buffer("code", code)
        self.register_buffer("weight", packed.unsqueeze(1))
        self.register_buffer("absmax", q)
        self.register_buffer("nested_absmax", s)
        self.register_buffer("offset", o)

    def dequantize(self, dtype):
        absmax = (self.absmax.float() * (self.nested_absmax / 127.0)).flatten() + self.offset
        p = self.weight.squeeze(1)
        idx = torch.stack([p >> 4, p & 0xF], dim=-1).view(-1)
        w = self.code[idx.long()].view(-1, self.blocksize) * absmax.unsqueeze(-1)
        return w.view(self.out_features, self.in_features).to(dtype)


class Model(nn.Module):
    def __init__(self, in_features, out_features, r, lora_alpha):
        super().__init__()
        self.base_layer = NF4Linear(in_features, out_features)
        self.scaling = lora_alpha / math.sqrt(r)  # rsLoRA
        self.lora_A = nn.Linear(in_features, r, bias=False, dtype=torch.bfloat16)
        self.lora_B = nn.Linear(r, out_features, bias=False, dtype=torch.bfloat16)
        nn.init.normal_(self.lora_B.weight, std=0.01)
        w = self.base_layer.dequantize(torch.float32)
        self.lora_magnitude_vector = nn.Parameter(torch.linalg.norm(w, dim=1).to(torch.bfloat16) * 1.1)
        self.bias = nn.Parameter(torch.zeros(out_features, dtype=torch.bfloat16))

    def get_weight_norm(self, weight, lora_weight, scaling):
        weight = weight + scaling * lora_weight
        return torch.linalg.norm(weight.float(), dim=1).to(weight.dtype)

    def forward(self, x):
        weight = self.base_layer.dequantize(x.dtype)
        result = F.linear(x, weight)
        x_eye = torch.eye(self.lora_A.weight.shape[1], device=x.device, dtype=x.dtype)
        lora_weight = self.lora_B(self.lora_A(x_eye)).T
        weight_norm = self.get_weight_norm(weight, lora_weight.detach(), self.scaling).detach()
        mag_norm_scale = (self.lora_magnitude_vector / weight_norm).view(1, -1)
        lora_result = self.lora_B(self.lora_A(x))
        dora = (mag_norm_scale - 1) * result + mag_norm_scale * lora_result * self.scaling
        return result + dora + self.bias


def get_inputs():
    return [torch.randn(2, 1024, 1024, dtype=torch.bfloat16)]


def get_init_inputs():
    return [1024, 2048, 16, 32]
