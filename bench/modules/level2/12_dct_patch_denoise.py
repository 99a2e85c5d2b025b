import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
CHANNELS = 3
HEIGHT = 256
WIDTH = 320
PATCH = 8
STRIDE = 4
THRESHOLD = 0.3


def dct_matrix(n):
    k = torch.arange(n).float().unsqueeze(1)
    i = torch.arange(n).float().unsqueeze(0)
    m = torch.cos(math.pi * (2 * i + 1) * k / (2 * n)) * math.sqrt(2.0 / n)
    m[0] /= math.sqrt(2.0)
    return m


class Model(nn.Module):
    """Overlapping-patch DCT soft-threshold denoising with unfold / fold averaging."""

    def __init__(self, patch, stride, threshold):
        super().__init__()
        self.patch = patch
        self.stride = stride
        d = dct_matrix(patch)
        self.register_buffer("basis", torch.kron(d, d))
        self.threshold = nn.Parameter(torch.full((1, 1, patch * patch, 1), threshold))

    def forward(self, img):
        b, c, h, w = img.shape
        cols = F.unfold(img, kernel_size=self.patch, stride=self.stride)
        n = cols.shape[-1]
        cols = cols.view(b, c, self.patch * self.patch, n)
        dc = cols.mean(dim=2, keepdim=True)
        coef = torch.matmul(self.basis, cols - dc)
        shrunk = torch.sign(coef) * F.relu(coef.abs() - self.threshold)
        rec = torch.matmul(self.basis.t(), shrunk) + dc
        rec = rec.reshape(b, c * self.patch * self.patch, n)
        out = F.fold(rec, output_size=(h, w), kernel_size=self.patch, stride=self.stride)
        weight = F.fold(torch.ones_like(rec), output_size=(h, w), kernel_size=self.patch, stride=self.stride)
        return out / weight


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, HEIGHT, WIDTH)]


def get_init_inputs():
    return [PATCH, STRIDE, THRESHOLD]
