import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 64
IMG_H = 224
IMG_W = 224
PATCH = 16
DIM = 768
REGISTERS = 4
PRECISION = torch.float16


class Model(nn.Module):
    """ViT tokeniser: pixel normalisation, patch conv, class and register tokens, position embedding, pre-norm."""

    def __init__(self, img_h, img_w, patch, dim, registers, dtype):
        super().__init__()
        self.proj = nn.Conv2d(3, dim, kernel_size=patch, stride=patch, dtype=dtype)
        n = (img_h // patch) * (img_w // patch)
        self.cls_token = nn.Parameter((torch.randn(1, 1, dim) * 0.02).to(dtype))
        self.reg_tokens = nn.Parameter((torch.randn(1, registers, dim) * 0.02).to(dtype))
        self.pos_embed = nn.Parameter((torch.randn(1, n + 1, dim) * 0.02).to(dtype))
        self.norm_pre = nn.LayerNorm(dim, eps=1e-5, dtype=dtype)
        mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)
        std = torch.tensor([0.229, 0.224, 0.225]).view(1, 3, 1, 1)
        self.register_buffer("mean", mean.to(dtype), persistent=False)
        self.register_buffer("std", std.to(dtype), persistent=False)

    def forward(self, pixels):
        x = (pixels - self.mean) / self.std
        x = self.proj(x).flatten(2).transpose(1, 2)
        b = x.shape[0]
        x = torch.cat((self.cls_token.expand(b, -1, -1), x), dim=1)
        x = x + self.pos_embed
        x = torch.cat((x[:, :1], self.reg_tokens.expand(b, -1, -1), x[:, 1:]), dim=1)
        return self.norm_pre(x)


def get_inputs():
    return [torch.rand(BATCH, 3, IMG_H, IMG_W, dtype=PRECISION)]


def get_init_inputs():
    return [IMG_H, IMG_W, PATCH, DIM, REGISTERS, PRECISION]
