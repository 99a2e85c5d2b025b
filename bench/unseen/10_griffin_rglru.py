import math

import torch
import torch.nn as nn
import torch.nn.functional as F

_MAX_SQRT_GRADIENT = 1000.0


class BlockDiagonalLinear(nn.Module):
    def __init__(self, width, num_blocks, dtype=None):
        super().__init__()
        self.num_blocks = num_blocks
        block_width = width // num_blocks
        self.w = nn.Parameter(torch.empty(num_blocks, block_width, block_width, dtype=dtype))
        self.b = nn.Parameter(torch.zeros(num_blocks, block_width, dtype=dtype))
        nn.init.normal_(self.w, mean=0.0, std=math.sqrt(1.0 / block_width))

    def forward(self, x):
        # "... (h i) -> ... h i"
        y = x.unflatten(-1, (self.num_blocks, -1))
        y = torch.einsum("... h i, h i j -> ... h j", y, self.w) + self.b
        return y.flatten(-2)


def assoc_scan(a, x):
    """h_t = a_t * h_{t-1} + x_t over dim 1 by recursive doubling."""
    T = x.shape[1]
    for i in range(math.ceil(math.log2(T))):
        s = 1 << i
        x_prev = F.pad(x, (0, 0, s, 0))[:, :T]
        a_prev = F.pad(a, (0, 0, s, 0), value=1.0)[:, :T]
        x = x + a * x_prev
        a = a * a_prev
    return x


class RGLRU(nn.Module):
    def __init__(self, width, num_heads, dtype=None):
        super().__init__()
        u = torch.rand(width) * (0.999 ** 2 - 0.9 ** 2) + 0.9 ** 2
        self.a_param = nn.Parameter(torch.log(torch.exp(-0.5 * torch.log(u)) - 1.0))
        self.input_gate = BlockDiagonalLinear(width, num_heads, dtype)
        self.a_gate = BlockDiagonalLinear(width, num_heads, dtype)

    def forward(self, x, segment_pos):
        reset = segment_pos == 0
        gate_x = torch.sigmoid(self.input_gate(x))
        gate_a = torch.sigmoid(self.a_gate(x))
        log_a = -8.0 * gate_a * F.softplus(self.a_param)
        a = torch.exp(log_a)
        a_square = torch.exp(2 * log_a)
        gated_x = x * gate_x
        multiplier = torch.sqrt(torch.clamp(1 - a_square, min=1 / (4 * _MAX_SQRT_GRADIENT ** 2)))
        multiplier = reset[..., None] + ~reset[..., None] * multiplier
        normalized_x = gated_x * multiplier.type(x.dtype)
        y = assoc_scan(a * ~reset[..., None], normalized_x.float())
        return y.type(x.dtype), y[:, -1]


class Model(nn.Module):
    def __init__(self, width, lru_width, num_heads, temporal_width):
        super().__init__()
        dt = torch.bfloat16
        self.scale = nn.Parameter(torch.zeros(width, dtype=dt))
        self.linear_y = nn.Linear(width, lru_width, dtype=dt)
        self.linear_x = nn.Linear(width, lru_width, dtype=dt)
        self.linear_out = nn.Linear(lru_width, width, dtype=dt)
        self.conv_w = nn.Parameter(torch.randn(temporal_width, lru_width, dtype=dt) * math.sqrt(0.01 / temporal_width) * 10)
        self.conv_b = nn.Parameter(torch.zeros(lru_width, dtype=dt))
        self.temporal_width = temporal_width
        self.rg_lru = RGLRU(lru_width, num_heads, dt)

    def _rms(self, x):
        var = torch.mean(torch.square(x), dim=-1, keepdim=True)
        return x * torch.rsqrt(var + 1e-6) * (self.scale + 1)

    def _conv(self, x, segment_pos):
        out = 0.0
        L = x.shape[1]
        for shift in range(self.temporal_width):
            x_s = F.pad(x, (0, 0, shift, 0))[:, :L]
            # do not look over document boundaries
            valid = (segment_pos >= shift)[..., None]
            out = out + x_s * valid * self.conv_w[self.temporal_width - shift - 1][None, None, :]
        return out + self.conv_b[None, None]

    def forward(self, x, segment_pos):
        raw = x
        x = self._rms(x)
        y = F.gelu(self.linear_y(x), approximate="tanh")
        x = self.linear_x(x)
        x = self._conv(x, segment_pos)
        x, state = self.rg_lru(x, segment_pos)
        x = self.linear_out(x * y)
        return raw + x, state


def get_inputs():
    pos = torch.arange(1024).repeat(4, 1)
    pos[1] = torch.cat([torch.arange(400), torch.arange(624)])
    pos[3] = torch.arange(1024) % 256
    return [torch.randn(4, 1024, 512, dtype=torch.bfloat16), pos]


def get_init_inputs():
    return [512, 768, 8, 4]
