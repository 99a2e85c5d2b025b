import torch
import torch.nn as nn

TILES = 4
HEIGHT = 1024
WIDTH = 1024
ITERS = 8
BAILOUT = 4.0


class Model(nn.Module):
    """Fixed-iteration Mandelbrot set with exponential smoothing, an orbit trap and a cosine palette."""

    def __init__(self, iters, bailout):
        super().__init__()
        self.iters = iters
        self.bailout = bailout
        self.register_buffer("phase", torch.tensor([0.0, 0.33, 0.67]).view(1, 3, 1, 1))

    def forward(self, u, v):
        cr = 1.5 * u - 1.2
        ci = 1.6 * v - 0.8
        zr = torch.zeros_like(cr)
        zi = torch.zeros_like(ci)
        smooth = torch.zeros_like(cr)
        trap = torch.full_like(cr, 1e6)
        for _ in range(self.iters):
            zr2, zi2 = zr * zr, zi * zi
            new_r = zr2 - zi2 + cr
            new_i = 2.0 * zr * zi + ci
            zr = torch.clamp(new_r, -self.bailout, self.bailout)
            zi = torch.clamp(new_i, -self.bailout, self.bailout)
            mag = torch.sqrt(zr * zr + zi * zi + 1e-12)
            smooth = smooth + torch.exp(-mag)
            trap = torch.minimum(trap, mag)
        t = smooth / self.iters
        rgb = 0.5 + 0.5 * torch.cos(6.2831853 * (t.unsqueeze(1) + self.phase))
        return rgb * torch.exp(-trap).unsqueeze(1), trap


def get_inputs():
    return [torch.rand(TILES, HEIGHT, WIDTH), torch.rand(TILES, HEIGHT, WIDTH)]


def get_init_inputs():
    return [ITERS, BAILOUT]
