import torch
import torch.nn as nn
import torch.nn.functional as F


class WQLinear8(nn.Module):
    """Weight-only int8 with one fp16 scale per output channel."""

    def __init__(self, i, o):
        super().__init__()
        self.register_buffer("qweight", torch.randint(-127, 128, (o, i), dtype=torch.int8))
        self.register_buffer("scales", ((torch.rand(o) + 0.5) / 127 / i ** 0.5).to(torch.float16))
        self.bias = nn.Parameter(torch.randn(o, dtype=torch.float16) * 0.1)

    def forward(self, x):
        w = self.qweight.to(dtype=x.dtype)
        return F.linear(x, w) * self.scales + self.bias


class WQLinear4(nn.Module):
    """AWQ/GPTQ-like: two 4-bit weights per uint8, fp16 scale and zero per group of input channels."""

    def __init__(self, i, o, group):
        super().__init__()
        assert i % group == 0
        self.i, self.o, self.group = i, o, group
        self.register_buffer("qweight", torch.randint(0, 256, (o, i // 2), dtype=torch.uint8))
        self.register_buffer("scales", ((torch.rand(o, i // group) + 0.5) / 8 / i ** 0.5).to(torch.float16))
        self.register_buffer("zeros", torch.randint(6, 10, (o, i // group)).to(torch.float16))

    def dequantize(self):
        low = self.qweight & 0x0F
        high = self.qweight >> 4
        w = torch.stack((low, high), dim=-1).view(self.o, self.i // self.group, self.group)
        w = (w.to(torch.float16) - self.zeros.unsqueeze(-1)) * self.scales.unsqueeze(-1)
        return w.reshape(self.o, self.i)

    def forward(self, x):
        return x.matmul(self.dequantize().t())


class Model(nn.Module):
    def __init__(self, d_in, d_hid, d_out, group):
        super().__init__()
        self.norm = nn.LayerNorm(d_in, dtype=torch.float16)
        self.fc1 = WQLinear8(d_in, d_hid)
        self.fc2 = WQLinear4(d_hid, d_out, group)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(self.norm(x)), approximate="tanh"))


TOKENS = 2048
D_IN = 4096
D_HID = 8192
D_OUT = 4096
GROUP = 128


def get_inputs():
    return [torch.randn(TOKENS, D_IN, dtype=torch.float16)]


def get_init_inputs():
    return [D_IN, D_HID, D_OUT, GROUP]
