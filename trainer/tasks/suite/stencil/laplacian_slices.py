"""Laplacian of images by shifted slices: four adds of whole tensors."""
import torch
import torch.nn as nn

batch = 8
side = 512


class Model(nn.Module):
    def forward(self, u):
        inner = u[:, 1:-1, 1:-1]
        return u[:, :-2, 1:-1] + u[:, 2:, 1:-1] + u[:, 1:-1, :-2] + u[:, 1:-1, 2:] - 4 * inner


def get_inputs():
    return [torch.randn(batch, side, side)]


def get_init_inputs():
    return []
