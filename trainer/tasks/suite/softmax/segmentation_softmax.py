"""Class probabilities of every pixel: softmax over the channels of images, sharpened and renormalised."""
import torch
import torch.nn as nn

batch = 8
channels = 21
side = 128


class Model(nn.Module):
    def forward(self, scores):
        p = torch.softmax(scores, dim=1) ** 2
        return p / p.sum(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return []
