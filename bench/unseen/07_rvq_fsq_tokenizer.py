import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def round_ste(z):
    zhat = z.round()
    return z + (zhat - z).detach()


class FSQ(nn.Module):
    def __init__(self, levels):
        super().__init__()
        _levels = torch.tensor(levels, dtype=torch.int32)
        self.register_buffer("_levels", _levels, persistent=False)
        self.register_buffer("_basis", torch.cumprod(torch.tensor([1] + levels[:-1]), dim=0, dtype=torch.int32), persistent=False)

    def bound(self, z, eps=1e-3):
        half_l = (self._levels - 1) * (1 + eps) / 2
        offset = torch.where(self._levels % 2 == 0, 0.5, 0.0)
        shift = (offset / half_l).atanh()
        return (z + shift).tanh() * half_l - offset

    def quantize(self, z):
        quantized = round_ste(self.bound(z))
        half_width = self._levels // 2
        return quantized / half_width

    def codes_to_indices(self, zhat):
        half_width = self._levels // 2
        zhat = (zhat * half_width) + half_width
        return (zhat * self._basis).sum(dim=-1).round().to(torch.int32)

    def indices_to_codes(self, indices):
        half_width = self._levels // 2
        codes_non_centered = (indices.unsqueeze(-1) // self._basis) % self._levels
        return (codes_non_centered - half_width) / half_width

    def forward(self, z):
        codes = self.quantize(z)
        return codes, self.codes_to_indices(codes)


class EuclideanCodebook(nn.Module):
    def __init__(self, codebook_size, dim):
        super().__init__()
        self.register_buffer("embed", torch.randn(codebook_size, dim) * 0.5)

    def quantize(self, x):
        embed = self.embed.t()
        dist = -(x.pow(2).sum(1, keepdim=True) - 2 * x @ embed + embed.pow(2).sum(0, keepdim=True))
        return dist.max(dim=-1).indices

    def forward(self, x):
        shape = x.shape
        flat = x.reshape(-1, shape[-1])
        ind = self.quantize(flat).view(*shape[:-1])
        return F.embedding(ind, self.embed), ind


class FactorizedVQ(nn.Module):
    """DAC: low-dimensional, l2-normalised lookup."""

    def __init__(self, input_dim, codebook_size, codebook_dim):
        super().__init__()
        self.in_proj = nn.Conv1d(input_dim, codebook_dim, 1)
        self.out_proj = nn.Conv1d(codebook_dim, input_dim, 1)
        self.codebook = nn.Embedding(codebook_size, codebook_dim)

    def forward(self, z):
        z_e = self.in_proj(z)
        encodings = z_e.permute(0, 2, 1).reshape(-1, z_e.shape[1])
        enc = F.normalize(encodings)
        cb = F.normalize(self.codebook.weight)
        dist = enc.pow(2).sum(1, keepdim=True) - 2 * enc @ cb.t() + cb.pow(2).sum(1, keepdim=True).t()
        indices = (-dist).max(1)[1].view(z.size(0), -1)
        z_q = self.codebook(indices).transpose(1, 2)
        commitment_loss = F.mse_loss(z_e, z_q.detach(), reduction="none").mean([1, 2])
        z_q = z_e + (z_q - z_e).detach()
        return self.out_proj(z_q), commitment_loss, indices


class Model(nn.Module):
    """Semantic stream by FSQ, acoustic stream by residual VQ (plain then factorised), usage statistics and perplexity."""

    def __init__(self, dim, levels, n_q, bins, fact_bins, fact_dim):
        super().__init__()
        self.n_q, self.bins = n_q, bins
        self.sem_in = nn.Linear(dim, len(levels))
        self.sem_out = nn.Linear(len(levels), dim)
        self.fsq = FSQ(levels)
        self.proj = nn.Linear(dim, 64, bias=False)
        self.unproj = nn.Linear(64, dim, bias=False)
        self.layers = nn.ModuleList([EuclideanCodebook(bins, 64) for _ in range(n_q)])
        self.fact = FactorizedVQ(dim, fact_bins, fact_dim)

    def forward(self, z, lengths):
        # z: [B, D, T]
        B, D, T = z.shape
        mask = torch.arange(T, device=z.device) < lengths[:, None]
        zt = z.permute(0, 2, 1)
        sem, sem_idx = self.fsq(self.sem_in(zt))
        # a round trip through the token ids, as the decoder sees it
        sem = self.sem_out(self.fsq.indices_to_codes(sem_idx))
        residual = self.proj(zt - sem)
        quantized = torch.zeros_like(residual)
        indices, losses = [], []
        for layer in self.layers:
            q, ind = layer(residual)
            losses.append(((q - residual).pow(2).mean(-1) * mask).sum() / mask.sum())
            residual = residual - q
            quantized = quantized + q
            indices.append(ind)
        y = (sem + self.unproj(quantized)).transpose(1, 2)
        fq, floss, fidx = self.fact(z - y)
        out = (y + fq).masked_fill(~mask.unsqueeze(1), 0.0)

        codes = torch.stack(indices)
        flat = codes.masked_fill(~mask, self.bins).flatten(1)
        usage = torch.zeros(self.n_q, self.bins + 1, device=z.device)
        usage.scatter_add_(1, flat, torch.ones_like(flat, dtype=usage.dtype))
        prob = usage[:, :-1] / usage[:, :-1].sum(-1, keepdim=True)
        perplexity = torch.exp(-(prob * torch.log(prob + 1e-10)).sum(-1))

        # MusicGen delay pattern
        K = self.n_q
        delayed = torch.full((B, K, T + K - 1), self.bins, dtype=codes.dtype, device=z.device)
        for k in range(K):
            delayed[:, k, k:k + T] = codes[k]
        return out, delayed, sem_idx.masked_fill(~mask, -1), torch.stack(losses), floss, perplexity


def get_inputs():
    b, d, t = 8, 256, 512
    return [torch.randn(b, d, t), torch.arange(t - 7 * 24, t + 1, 24)]


def get_init_inputs():
    return [256, [8, 5, 5, 5], 4, 512, 1024, 8]
