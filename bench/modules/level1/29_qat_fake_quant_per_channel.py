import torch
import torch.nn as nn
import torch.nn.functional as F


class FakeQuantAct(nn.Module):
    """Per-tensor affine activation fake-quant with live min/max (straight-through form)."""

    def __init__(self, bits=8):
        super().__init__()
        self.qmin, self.qmax = 0, 2 ** bits - 1

    def forward(self, x):
        lo = torch.clamp(x.amin(), max=0.0)
        hi = torch.clamp(x.amax(), min=0.0)
        scale = (hi - lo).clamp(min=1e-8) / float(self.qmax - self.qmin)
        zp = torch.round(self.qmin - lo / scale).clamp(self.qmin, self.qmax)
        q = torch.clamp(torch.round(x / scale) + zp, self.qmin, self.qmax)
        dq = (q - zp) * scale
        return x + (dq - x).detach()


class QConv(nn.Conv2d):
    """Symmetric per-output-channel weight fake-quant, written by hand."""

    def forward(self, x):
        w = self.weight
        s = w.detach().abs().amax(dim=(1, 2, 3), keepdim=True) / 127.0
        wq = torch.clamp(torch.round(w / s), -128, 127) * s
        w = w + (wq - w).detach()
        return self._conv_forward(x, w, self.bias)


class QLinear(nn.Linear):
    """The same through the built-in operator."""

    def forward(self, x):
        s = self.weight.abs().amax(dim=1).clamp(min=1e-8) / 127.0
        zp = torch.zeros_like(s, dtype=torch.int32)
        wq = torch.fake_quantize_per_channel_affine(self.weight, s, zp, 0, -128, 127)
        return F.linear(x, wq, self.bias)


class Model(nn.Module):
    def __init__(self, c_in, c_out, classes):
        super().__init__()
        self.act0, self.act1, self.act2 = FakeQuantAct(8), FakeQuantAct(8), FakeQuantAct(8)
        self.conv1 = QConv(c_in, c_out, 3, stride=2, padding=1)
        self.conv2 = QConv(c_out, c_out, 3, padding=1)
        self.fc = QLinear(c_out, classes)

    def forward(self, x):
        x = F.relu(self.conv1(self.act0(x)))
        x = F.relu6(self.conv2(self.act1(x)))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.fc(self.act2(x))


BATCH = 32
C_IN = 64
C_OUT = 128
SIZE = 56
CLASSES = 1000


def get_inputs():
    x = torch.randn(BATCH, C_IN, SIZE, SIZE) * (0.25 + 2 * torch.rand(BATCH, 1, 1, 1))
    return [x + torch.randn(BATCH, C_IN, 1, 1)]


def get_init_inputs():
    return [C_IN, C_OUT, CLASSES]
