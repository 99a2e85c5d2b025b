"""Minimal S4D layer inside a DeepNorm post-norm residual."""
import math

import torch
import torch.nn as nn


class S4DKernel(nn.Module):
    def __init__(self, d_model, N=32, dt_min=0.001, dt_max=0.1):
        super().__init__()
        H = d_model
        log_dt = torch.rand(H) * (math.log(dt_max) - math.log(dt_min)) + math.log(dt_min)
        C = torch.randn(H, N // 2, dtype=torch.cfloat)
        self.C = nn.Parameter(torch.view_as_real(C))
        self.log_dt = nn.Parameter(log_dt)
        log_A_real = torch.log(0.5 * torch.ones(H, N // 2))
        A_imag = math.pi * torch.arange(N // 2).float().repeat(H, 1)
        self.log_A_real = nn.Parameter(log_A_real)
        self.A_imag = nn.Parameter(A_imag)

    def forward(self, L):
        dt = torch.exp(self.log_dt)
        C = torch.view_as_complex(self.C)
        A = -torch.exp(self.log_A_real) + 1j * self.A_imag
        dtA = A * dt.unsqueeze(-1)
        K = dtA.unsqueeze(-1) * torch.arange(L, device=A.device)
        C = C * (torch.exp(dtA) - 1.0) / A
        K = 2 * torch.einsum("hn, hnl -> hl", C, torch.exp(K)).real
        return K


class S4D(nn.Module):
    def __init__(self, d_model, d_state):
        super().__init__()
        self.h = d_model
        self.D = nn.Parameter(torch.randn(self.h))
        self.kernel = S4DKernel(self.h, N=d_state)
        self.activation = nn.GELU()
        self.output_linear = nn.Sequential(nn.Conv1d(self.h, 2 * self.h, kernel_size=1), nn.GLU(dim=-2))

    def forward(self, u):  # (B, H, L)
        L = u.size(-1)
        k = self.kernel(L=L)
        k_f = torch.fft.rfft(k, n=2 * L)
        u_f = torch.fft.rfft(u, n=2 * L)
        y = torch.fft.irfft(u_f * k_f, n=2 * L)[..., :L]
        y = y + u * self.D.unsqueeze(-1)
        y = self.activation(y)
        return self.output_linear(y)


class Model(nn.Module):
    def __init__(self, d_model, d_state, n_layers_total):
        super().__init__()
        self.alpha = (2 * n_layers_total) ** 0.25
        self.s4 = S4D(d_model, d_state)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, lengths):  # (B, L, H), (B,)
        z = self.s4(x.transpose(-1, -2)).transpose(-1, -2)
        x = self.norm(x * self.alpha + z)
        # masked mean pool over the time axis, as the long range arena decoder does
        mask = torch.arange(x.size(1), device=x.device)[None, :] < lengths[:, None]
        pooled = (x * mask.unsqueeze(-1)).sum(dim=1) / lengths.unsqueeze(-1)
        return x, pooled


def get_inputs():
    return [torch.randn(8, 2048, 256), torch.tensor([2048, 1900, 1024, 777, 1500, 2000, 1, 64])]


def get_init_inputs():
    return [256, 32, 12]
