import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """RWKV-4 block: token shift by ZeroPad2d, numerically stable WKV recurrence (python loop), squared-ReLU FFN."""

    def __init__(self, n_embd):
        super().__init__()
        ratio = torch.arange(n_embd).float() / n_embd
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.ln1 = nn.LayerNorm(n_embd)
        self.ln2 = nn.LayerNorm(n_embd)
        self.time_decay = nn.Parameter(-5 + 8 * ratio ** 1.3)
        self.time_first = nn.Parameter(torch.ones(n_embd) * -1.2 + 0.3 * torch.randn(n_embd))
        self.time_mix_k = nn.Parameter(ratio.view(1, 1, -1) ** 0.5)
        self.time_mix_v = nn.Parameter(ratio.view(1, 1, -1) ** 0.5 + 0.1)
        self.time_mix_r = nn.Parameter(ratio.view(1, 1, -1) ** 0.25)
        self.key = nn.Linear(n_embd, n_embd, bias=False)
        self.value = nn.Linear(n_embd, n_embd, bias=False)
        self.receptance = nn.Linear(n_embd, n_embd, bias=False)
        self.output = nn.Linear(n_embd, n_embd, bias=False)
        self.cm_k = nn.Parameter(ratio.view(1, 1, -1))
        self.cm_r = nn.Parameter(ratio.view(1, 1, -1))
        self.ffn_key = nn.Linear(n_embd, 4 * n_embd, bias=False)
        self.ffn_value = nn.Linear(4 * n_embd, n_embd, bias=False)
        self.ffn_receptance = nn.Linear(n_embd, n_embd, bias=False)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    def wkv(self, k, v):
        w = -torch.exp(self.time_decay)
        u = self.time_first
        b, t, c = k.shape
        aa = torch.zeros(b, c, device=k.device, dtype=k.dtype)
        bb = torch.zeros(b, c, device=k.device, dtype=k.dtype)
        pp = torch.full((b, c), -1e38, device=k.device, dtype=k.dtype)
        ys = []
        for i in range(t):
            kk, vv = k[:, i], v[:, i]
            ww = u + kk
            p = torch.maximum(pp, ww)
            e1 = torch.exp(pp - p)
            e2 = torch.exp(ww - p)
            ys.append((e1 * aa + e2 * vv) / (e1 * bb + e2))
            ww = w + pp
            p = torch.maximum(ww, kk)
            e1 = torch.exp(ww - p)
            e2 = torch.exp(kk - p)
            aa = e1 * aa + e2 * vv
            bb = e1 * bb + e2
            pp = p
        return torch.stack(ys, dim=1)

    def forward(self, x):
        h = self.ln1(x)
        hh = self.time_shift(h)
        xk = h * self.time_mix_k + hh * (1 - self.time_mix_k)
        xv = h * self.time_mix_v + hh * (1 - self.time_mix_v)
        xr = h * self.time_mix_r + hh * (1 - self.time_mix_r)
        rwkv = torch.sigmoid(self.receptance(xr)) * self.wkv(self.key(xk), self.value(xv))
        x = x + self.output(rwkv)
        h = self.ln2(x)
        hh = self.time_shift(h)
        xk = h * self.cm_k + hh * (1 - self.cm_k)
        xr = h * self.cm_r + hh * (1 - self.cm_r)
        k = torch.square(torch.relu(self.ffn_key(xk)))
        return x + torch.sigmoid(self.ffn_receptance(xr)) * self.ffn_value(k)


B = 64
T = 64
C = 768


def get_inputs():
    return [torch.randn(B, T, C)]


def get_init_inputs():
    return [C]
