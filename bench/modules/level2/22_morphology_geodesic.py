import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 8
HEIGHT = 1024
WIDTH = 1024
KERNEL = 7
STEPS = 4


def dilate(x, k):
    return F.max_pool2d(x, k, stride=1, padding=k // 2)


def erode(x, k):
    return -F.max_pool2d(-x, k, stride=1, padding=k // 2)


class Model(nn.Module):
    """Grey-scale morphology: gradient, top-hat, black-hat and a few steps of geodesic reconstruction."""

    def __init__(self, kernel, steps, h=0.15):
        super().__init__()
        self.k = kernel
        self.steps = steps
        self.h = h

    def forward(self, img):
        d = dilate(img, self.k)
        e = erode(img, self.k)
        opened = dilate(e, self.k)
        closed = erode(d, self.k)
        marker = img - self.h
        for _ in range(self.steps):
            marker = torch.minimum(dilate(marker, 3), img)
        domes = img - marker
        out = torch.cat([d - e, img - opened, closed - img, domes], dim=1)
        skeleton = F.relu(img - opened) * (domes > 0.05).to(img.dtype)
        return out, skeleton


def get_inputs():
    return [torch.rand(BATCH, 1, HEIGHT, WIDTH)]


def get_init_inputs():
    return [KERNEL, STEPS]
