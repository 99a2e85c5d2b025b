import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def kaiser_sinc_filter1d(cutoff, half_width, kernel_size):
    even = kernel_size % 2 == 0
    half_size = kernel_size // 2
    delta_f = 4 * half_width
    A = 2.285 * (half_size - 1) * math.pi * delta_f + 7.95
    if A > 50.0:
        beta = 0.1102 * (A - 8.7)
    elif A >= 21.0:
        beta = 0.5842 * (A - 21) ** 0.4 + 0.07886 * (A - 21.0)
    else:
        beta = 0.0
    window = torch.kaiser_window(kernel_size, beta=beta, periodic=False)
    time = torch.arange(-half_size, half_size) + 0.5 if even else torch.arange(kernel_size) - half_size
    filter_ = 2 * cutoff * window * torch.sinc(2 * cutoff * time)
    filter_ /= filter_.sum()
    return filter_.view(1, 1, kernel_size)


class UpSample1d(nn.Module):
    def __init__(self, ratio=2):
        super().__init__()
        self.ratio = ratio
        self.kernel_size = int(6 * ratio // 2) * 2
        self.stride = ratio
        self.pad = self.kernel_size // ratio - 1
        self.pad_left = self.pad * self.stride + (self.kernel_size - self.stride) // 2
        self.pad_right = self.pad * self.stride + (self.kernel_size - self.stride + 1) // 2
        self.register_buffer("filter", kaiser_sinc_filter1d(0.5 / ratio, 0.6 / ratio, self.kernel_size))

    def forward(self, x):
        _, C, _ = x.shape
        x = F.pad(x, (self.pad, self.pad), mode="replicate")
        x = self.ratio * F.conv_transpose1d(x, self.filter.expand(C, -1, -1), stride=self.stride, groups=C)
        return x[..., self.pad_left:-self.pad_right]


class DownSample1d(nn.Module):
    def __init__(self, ratio=2):
        super().__init__()
        self.stride = ratio
        k = int(6 * ratio // 2) * 2
        self.pad_left, self.pad_right = k // 2 - int(k % 2 == 0), k // 2
        self.register_buffer("filter", kaiser_sinc_filter1d(0.5 / ratio, 0.6 / ratio, k))

    def forward(self, x):
        _, C, _ = x.shape
        x = F.pad(x, (self.pad_left, self.pad_right), mode="replicate")
        return F.conv1d(x, self.filter.expand(C, -1, -1), stride=self.stride, groups=C)


class SnakeBeta(nn.Module):
    def __init__(self, in_features, alpha_logscale=True):
        super().__init__()
        self.alpha = nn.Parameter(torch.zeros(in_features))
        self.beta = nn.Parameter(torch.zeros(in_features))
        nn.init.uniform_(self.alpha, -0.5, 0.5)
        nn.init.uniform_(self.beta, -0.5, 0.5)
        self.alpha_logscale = alpha_logscale
        self.no_div_by_zero = 0.000000001

    def forward(self, x):
        alpha = self.alpha.unsqueeze(0).unsqueeze(-1)
        beta = self.beta.unsqueeze(0).unsqueeze(-1)
        if self.alpha_logscale:
            alpha = torch.exp(alpha)
            beta = torch.exp(beta)
        return x + (1.0 / (beta + self.no_div_by_zero)) * torch.pow(torch.sin(x * alpha), 2)


class Activation1d(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.act = activation
        self.upsample = UpSample1d()
        self.downsample = DownSample1d()

    def forward(self, x):
        return self.downsample(self.act(self.upsample(x)))


class AMPBlock1(nn.Module):
    def __init__(self, channels, kernel_size, dilation):
        super().__init__()
        pad = lambda d: (kernel_size * d - d) // 2
        self.convs1 = nn.ModuleList([nn.Conv1d(channels, channels, kernel_size, 1, dilation=d, padding=pad(d)) for d in dilation])
        self.convs2 = nn.ModuleList([nn.Conv1d(channels, channels, kernel_size, 1, dilation=1, padding=pad(1)) for _ in dilation])
        self.activations = nn.ModuleList([Activation1d(SnakeBeta(channels)) for _ in range(2 * len(dilation))])

    def forward(self, x):
        acts1, acts2 = self.activations[::2], self.activations[1::2]
        for c1, c2, a1, a2 in zip(self.convs1, self.convs2, acts1, acts2):
            xt = a1(x)
            xt = c1(xt)
            xt = a2(xt)
            xt = c2(xt)
            x = xt + x
        return x


class ISTFTHead(nn.Module):
    """Vocos head with 'same' padding: windowed frames through irfft as a matmul, overlap-add with fold."""

    def __init__(self, dim, n_fft, hop_length):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop_length
        self.out = nn.Conv1d(dim, n_fft + 2, 7, padding=3)
        n = torch.arange(n_fft, dtype=torch.float64)
        k = torch.arange(n_fft // 2 + 1, dtype=torch.float64)
        w = torch.full((n_fft // 2 + 1,), 2.0, dtype=torch.float64)
        w[0] = w[-1] = 1.0
        ang = 2 * math.pi * torch.outer(k, n) / n_fft
        basis = torch.cat([torch.cos(ang), -torch.sin(ang)]) * torch.cat([w, w])[:, None] / n_fft
        window = torch.hann_window(n_fft, dtype=torch.float64)
        self.register_buffer("basis", (basis * window).float())
        self.register_buffer("window", window.float())

    def forward(self, x):
        x = self.out(x).float()
        mag, p = x.chunk(2, dim=1)
        mag = torch.clip(torch.exp(mag), max=1e2)
        S = torch.cat([mag * torch.cos(p), mag * torch.sin(p)], dim=1)
        frames = torch.einsum("bkt,kn->bnt", S, self.basis)
        B, N, T = frames.shape
        pad = (self.n_fft - self.hop) // 2
        size = (T - 1) * self.hop + self.n_fft
        y = F.fold(frames, (1, size), (1, self.n_fft), stride=(1, self.hop))[:, 0, 0, pad:-pad]
        env = F.fold(self.window.square().expand(1, T, -1).transpose(1, 2), (1, size), (1, self.n_fft), stride=(1, self.hop)).squeeze()[pad:-pad]
        return y / env.clamp(min=1e-11)


class Model(nn.Module):
    def __init__(self, n_mels, channels, upsample_rate, upsample_kernel, kernels, dilations, n_fft, hop):
        super().__init__()
        self.num_kernels = len(kernels)
        self.conv_pre = nn.Conv1d(n_mels, 2 * channels, 7, 1, padding=3)
        self.up = nn.ConvTranspose1d(2 * channels, channels, upsample_kernel, upsample_rate, padding=(upsample_kernel - upsample_rate) // 2)
        self.resblocks = nn.ModuleList([AMPBlock1(channels, k, d) for k, d in zip(kernels, dilations)])
        self.activation_post = Activation1d(SnakeBeta(channels))
        self.head = ISTFTHead(channels, n_fft, hop)
        for m in (self.conv_pre, self.up, self.resblocks, self.activation_post, self.head.out):
            m.to(torch.bfloat16)

    def forward(self, mel):
        x = self.up(self.conv_pre(mel))
        xs = None
        for block in self.resblocks:
            xs = block(x) if xs is None else xs + block(x)
        x = xs / self.num_kernels
        x = self.activation_post(x)
        return torch.tanh(self.head(x))


def get_inputs():
    return [torch.randn(4, 80, 512).to(torch.bfloat16) - 2]


def get_init_inputs():
    return [80, 64, 8, 16, [3, 7], [[1, 3], [1, 3]], 64, 32]
