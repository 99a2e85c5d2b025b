"""A layer of Mamba 2.8B that decodes a token of each of 32 sequences from their states."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32
WIDTH, INNER, STATE, STEP = 2560, 5120, 16, 160


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH, eps=1e-5)
        self.inward, self.outward = nn.Linear(WIDTH, 2 * INNER, bias=False), nn.Linear(INNER, WIDTH, bias=False)
        self.kernel, self.bias = nn.Parameter(torch.randn(INNER, 4) * 0.5), nn.Parameter(torch.zeros(INNER))
        self.parts, self.step = nn.Linear(INNER, STEP + 2 * STATE, bias=False), nn.Linear(STEP, INNER)
        self.decay = nn.Parameter(torch.arange(1, STATE + 1).float().log().expand(INNER, STATE).clone())
        self.skip = nn.Parameter(torch.ones(INNER))
        self.to(DTYPE)

    def forward(self, x, window, state):
        y, gate = self.inward(self.norm(x)).chunk(2, -1)
        window = torch.cat([window[..., 1:], y[..., None]], -1)
        y = F.silu((window * self.kernel).sum(-1) + self.bias)
        step, write, read = self.parts(y).split([STEP, STATE, STATE], -1)
        step = F.softplus(self.step(step))
        state = state * torch.exp(step[..., None] * -self.decay.float().exp()).to(x.dtype) + (step * y)[..., None] * write[:, None]
        y = (state * read[:, None]).sum(-1) + self.skip * y
        return x + self.outward(y * F.silu(gate)), window, state


def get_inputs():
    return [torch.randn(shape).to(DTYPE) for shape in ((32, WIDTH), (32, INNER, 4), (32, INNER, STATE))]


def get_init_inputs():
    return []
