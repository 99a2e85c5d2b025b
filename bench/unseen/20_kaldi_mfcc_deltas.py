import math

import torch
import torch.nn as nn
import torch.nn.functional as F

EPSILON = 1.1920928955078125e-07


def hz_to_mel(f):
    return 1127.0 * math.log(1.0 + f / 700.0)


def get_mel_banks(num_bins, n_fft, sample_rate, low, high):
    num_fft_bins = n_fft // 2
    fft_bin_width = sample_rate / n_fft
    mel_low, mel_high = hz_to_mel(low), hz_to_mel(high)
    delta = (mel_high - mel_low) / (num_bins + 1)
    b = torch.arange(num_bins).unsqueeze(1)
    left = mel_low + b * delta
    center = mel_low + (b + 1.0) * delta
    right = mel_low + (b + 2.0) * delta
    mel = (1127.0 * (1.0 + fft_bin_width * torch.arange(num_fft_bins) / 700.0).log()).unsqueeze(0)
    up = (mel - left) / (center - left)
    down = (right - mel) / (right - center)
    return F.pad(torch.max(torch.zeros(1), torch.min(up, down)), (0, 1))


def create_dct(n_mfcc, n_mels):
    n = torch.arange(float(n_mels))
    k = torch.arange(float(n_mfcc)).unsqueeze(1)
    dct = torch.cos(math.pi / float(n_mels) * (n + 0.5) * k)
    dct[0] *= 1.0 / math.sqrt(2.0)
    dct *= math.sqrt(2.0 / float(n_mels))
    return dct.t()


class Model(nn.Module):
    """Kaldi-compatible MFCC front-end with the STFT as a matmul, deltas, energy VAD and sliding-window CMVN."""

    def __init__(self, sample_rate, num_ceps, num_mel_bins, frame_length_ms, frame_shift_ms, cepstral_lifter, cmn_window):
        super().__init__()
        self.win = int(sample_rate * frame_length_ms * 0.001)
        self.hop = int(sample_rate * frame_shift_ms * 0.001)
        self.n_fft = 1 << (self.win - 1).bit_length()
        self.cmn_window = cmn_window
        self.preemph = 0.97
        n = torch.arange(self.win, dtype=torch.float64)
        povey = (0.5 - 0.5 * torch.cos(2 * math.pi * n / (self.win - 1))).pow(0.85)
        f = torch.arange(self.n_fft // 2 + 1, dtype=torch.float64)
        ang = 2 * math.pi * torch.outer(n, f) / self.n_fft
        self.register_buffer("window", povey.float())
        self.register_buffer("dft", torch.cat([ang.cos(), -ang.sin()], dim=1).float())
        self.register_buffer("mel", get_mel_banks(num_mel_bins, self.n_fft, sample_rate, 20.0, sample_rate / 2.0).t().contiguous())
        self.register_buffer("dct", create_dct(num_ceps, num_mel_bins))
        i = torch.arange(num_ceps)
        self.register_buffer("lifter", 1.0 + 0.5 * cepstral_lifter * torch.sin(math.pi * i / cepstral_lifter))
        d = torch.arange(-2, 3).float()
        self.register_buffer("delta_k", (d / d.pow(2).sum()).view(1, 1, -1))

    def compute_deltas(self, specgram):
        shape = specgram.size()
        specgram = specgram.reshape(1, -1, shape[-1])
        kernel = self.delta_k.repeat(specgram.shape[1], 1, 1)
        specgram = F.pad(specgram, (2, 2), mode="replicate")
        return F.conv1d(specgram, kernel, groups=specgram.shape[1]).reshape(shape)

    def sliding_cmvn(self, x):
        # x: [B, T, D]; centred window through prefix sums
        B, T, D = x.shape
        half = self.cmn_window // 2
        t = torch.arange(T, device=x.device)
        lo = (t - half).clamp(min=0)
        hi = (t + half + 1).clamp(max=T)
        s1 = F.pad(x.cumsum(dim=1), (0, 0, 1, 0))
        s2 = F.pad((x * x).cumsum(dim=1), (0, 0, 1, 0))
        cnt = (hi - lo).view(1, T, 1).to(x.dtype)
        mean = (s1.index_select(1, hi) - s1.index_select(1, lo)) / cnt
        var = (s2.index_select(1, hi) - s2.index_select(1, lo)) / cnt - mean.pow(2)
        return (x - mean) * torch.rsqrt(var.clamp(min=1e-3))

    def forward(self, waveform, num_frames):
        frames = (waveform * 32768.0).unfold(-1, self.win, self.hop)
        frames = frames - frames.mean(dim=-1, keepdim=True)
        log_energy = torch.max(frames.pow(2).sum(-1), torch.tensor(EPSILON, device=frames.device)).log()
        offset = F.pad(frames, (1, 0), mode="replicate")
        frames = frames - self.preemph * offset[..., :-1]
        spec = (frames * self.window) @ self.dft
        re, im = spec.chunk(2, dim=-1)
        power = re.square() + im.square()
        mel = torch.clamp(power @ self.mel, min=EPSILON).log()
        feat = (mel @ self.dct) * self.lifter
        feat[..., 0] = log_energy

        d1 = self.compute_deltas(feat.transpose(1, 2))
        d2 = self.compute_deltas(d1)
        feat = torch.cat([feat, d1.transpose(1, 2), d2.transpose(1, 2)], dim=-1)

        valid = torch.arange(feat.shape[1], device=feat.device)[None, :] < num_frames[:, None]
        mean_e = (log_energy * valid).sum(1, keepdim=True) / num_frames[:, None]
        loud = (log_energy > 5.5 + 0.5 * mean_e) & valid
        # smooth the decision over +-2 frames
        vad = F.avg_pool1d(loud.float().unsqueeze(1), 5, stride=1, padding=2, count_include_pad=False).squeeze(1) >= 0.5
        feat = self.sliding_cmvn(feat).masked_fill(~valid.unsqueeze(-1), 0.0)
        # pack voiced frames first, keeping their order
        order = torch.sort((~vad).to(torch.int32), dim=1, stable=True)[1]
        packed = torch.gather(feat, 1, order.unsqueeze(-1).expand_as(feat))
        return packed, vad.sum(1), mel


def get_inputs():
    b, sec, sr = 16, 6, 16000
    t = torch.arange(sec * sr) / sr
    f0 = torch.linspace(90.0, 260.0, b).unsqueeze(1)
    env = (torch.sin(2 * math.pi * 0.7 * t).clamp(min=0.0) + 0.01)
    wav = 0.2 * env * torch.sin(2 * math.pi * f0 * t) + 0.003 * torch.randn(b, sec * sr)
    n = 1 + (sec * sr - 400) // 160
    return [wav, torch.linspace(n // 2, n, b).long()]


def get_init_inputs():
    return [16000, 20, 40, 25.0, 10.0, 22.0, 300]
