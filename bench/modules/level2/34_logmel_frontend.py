import math

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 64
SAMPLES = 80000
SAMPLE_RATE = 16000
N_FFT = 400
HOP = 160
N_MELS = 80


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_filterbank(n_mels, n_freqs, sr):
    freqs = torch.linspace(0, sr / 2, n_freqs)
    mels = torch.linspace(hz_to_mel(20.0), hz_to_mel(sr / 2), n_mels + 2)
    pts = 700.0 * (10.0 ** (mels / 2595.0) - 1.0)
    width = pts[1:] - pts[:-1]
    slopes = pts.unsqueeze(0) - freqs.unsqueeze(1)
    down = -slopes[:, :-2] / width[:-1]
    up = slopes[:, 2:] / width[1:]
    return torch.clamp(torch.minimum(down, up), min=0.0)


class Model(nn.Module):
    """Log-mel front end: pre-emphasis, framing, DFT as matmul, mel, log, utterance norm and deltas."""

    def __init__(self, n_fft, hop, n_mels, sr):
        super().__init__()
        self.n_fft = n_fft
        self.hop = hop
        n_freqs = n_fft // 2 + 1
        window = 0.5 - 0.5 * torch.cos(2 * math.pi * torch.arange(n_fft) / n_fft)
        phase = 2 * math.pi * torch.outer(torch.arange(n_fft).double(), torch.arange(n_freqs).double()) / n_fft
        self.register_buffer("window", window)
        self.register_buffer("cos_basis", torch.cos(phase).float())
        self.register_buffer("sin_basis", torch.sin(phase).float())
        self.register_buffer("fb", mel_filterbank(n_mels, n_freqs, sr))

    def forward(self, wav):
        wav = torch.cat([wav[:, :1], wav[:, 1:] - 0.97 * wav[:, :-1]], dim=1)
        wav = F.pad(wav.unsqueeze(1), (self.n_fft // 2, self.n_fft // 2), mode="reflect").squeeze(1)
        frames = wav.unfold(-1, self.n_fft, self.hop) * self.window
        real = frames @ self.cos_basis
        imag = frames @ self.sin_basis
        power = real.pow(2) + imag.pow(2)
        mel = torch.log(torch.clamp(power @ self.fb, min=1e-5))
        mel = (mel - mel.mean(dim=1, keepdim=True)) / (mel.std(dim=1, keepdim=True) + 1e-5)
        mel = mel.transpose(1, 2)
        padded = F.pad(mel, (2, 2), mode="replicate")
        delta = (padded[..., 3:-1] - padded[..., 1:-3] + 2 * (padded[..., 4:] - padded[..., :-4])) / 10.0
        return torch.stack([mel, delta], dim=1)


def get_inputs():
    return [torch.randn(BATCH, SAMPLES)]


def get_init_inputs():
    return [N_FFT, HOP, N_MELS, SAMPLE_RATE]
