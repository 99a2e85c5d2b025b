import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Swish(nn.Module):
    def forward(self, x):
        return x * x.sigmoid()


class FeedForward(nn.Module):
    def __init__(self, d, mult=4):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.w_1 = nn.Linear(d, d * mult)
        self.w_2 = nn.Linear(d * mult, d)
        self.act = Swish()

    def forward(self, x):
        return self.w_2(self.act(self.w_1(self.norm(x))))


class ConvolutionModule(nn.Module):
    """ConvolutionModule in Conformer, causal when lorder > 0 (cache is the left context of the previous chunk)."""

    def __init__(self, channels, kernel_size, causal):
        super().__init__()
        self.pointwise_conv1 = nn.Conv1d(channels, 2 * channels, 1)
        self.lorder = kernel_size - 1 if causal else 0
        padding = 0 if causal else (kernel_size - 1) // 2
        self.depthwise_conv = nn.Conv1d(channels, channels, kernel_size, padding=padding, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.pointwise_conv2 = nn.Conv1d(channels, channels, 1)

    def forward(self, x, mask_pad, cache):
        x = x.transpose(1, 2)
        x = x.masked_fill(~mask_pad, 0.0)
        if self.lorder > 0:
            x = torch.cat((cache, x), dim=2)
            new_cache = x[:, :, -self.lorder:]
        else:
            new_cache = cache
        x = F.glu(self.pointwise_conv1(x), dim=1)
        x = self.depthwise_conv(x)
        x = F.silu(self.norm(x.transpose(1, 2))).transpose(1, 2)
        x = self.pointwise_conv2(x)
        x = x.masked_fill(~mask_pad, 0.0)
        return x.transpose(1, 2), new_cache


class RelPositionMultiHeadedAttention(nn.Module):
    def __init__(self, n_head, n_feat):
        super().__init__()
        self.d_k = n_feat // n_head
        self.h = n_head
        self.linear_q = nn.Linear(n_feat, n_feat)
        self.linear_k = nn.Linear(n_feat, n_feat)
        self.linear_v = nn.Linear(n_feat, n_feat)
        self.linear_out = nn.Linear(n_feat, n_feat)
        self.linear_pos = nn.Linear(n_feat, n_feat, bias=False)
        self.pos_bias_u = nn.Parameter(torch.empty(self.h, self.d_k))
        self.pos_bias_v = nn.Parameter(torch.empty(self.h, self.d_k))
        nn.init.xavier_uniform_(self.pos_bias_u)
        nn.init.xavier_uniform_(self.pos_bias_v)

    def rel_shift(self, x):
        zero_pad = torch.zeros((*x.size()[:3], 1), device=x.device, dtype=x.dtype)
        x_padded = torch.cat([zero_pad, x], dim=-1)
        x_padded = x_padded.view(*x.size()[:2], x.size(3) + 1, x.size(2))
        return x_padded[:, :, 1:].view_as(x)[:, :, :, : x.size(-1) // 2 + 1]

    def forward(self, x, pos_emb, mask):
        n_batch = x.size(0)
        q = self.linear_q(x).view(n_batch, -1, self.h, self.d_k)
        k = self.linear_k(x).view(n_batch, -1, self.h, self.d_k).transpose(1, 2)
        v = self.linear_v(x).view(n_batch, -1, self.h, self.d_k).transpose(1, 2)
        p = self.linear_pos(pos_emb).view(pos_emb.size(0), -1, self.h, self.d_k).transpose(1, 2)
        q_with_bias_u = (q + self.pos_bias_u).transpose(1, 2)
        q_with_bias_v = (q + self.pos_bias_v).transpose(1, 2)
        matrix_ac = torch.matmul(q_with_bias_u, k.transpose(-2, -1))
        matrix_bd = self.rel_shift(torch.matmul(q_with_bias_v, p.transpose(-2, -1)))
        scores = (matrix_ac + matrix_bd) / math.sqrt(self.d_k)
        mask = mask.unsqueeze(1).eq(0)
        scores = scores.float().masked_fill(mask, -float("inf"))
        attn = torch.softmax(scores, dim=-1).masked_fill(mask, 0.0).to(v.dtype)
        x = torch.matmul(attn, v).transpose(1, 2).contiguous().view(n_batch, -1, self.h * self.d_k)
        return self.linear_out(x)


def subsequent_chunk_mask(size, chunk_size, num_left_chunks, device):
    pos = torch.arange(size, device=device)
    block = torch.div(pos, chunk_size, rounding_mode="trunc")
    ending = ((block + 1) * chunk_size).clamp(max=size)
    start = ((block - num_left_chunks) * chunk_size).clamp(min=0)
    return (pos.unsqueeze(0) < ending.unsqueeze(1)) & (pos.unsqueeze(0) >= start.unsqueeze(1))


class Model(nn.Module):
    def __init__(self, d_model, heads, kernel_size, chunk_size, left_chunks, max_len):
        super().__init__()
        self.chunk_size = chunk_size
        self.left_chunks = left_chunks
        self.ff1 = FeedForward(d_model)
        self.ff2 = FeedForward(d_model)
        self.norm_mha = nn.LayerNorm(d_model)
        self.norm_conv = nn.LayerNorm(d_model)
        self.norm_final = nn.LayerNorm(d_model)
        self.attn = RelPositionMultiHeadedAttention(heads, d_model)
        self.conv_module = ConvolutionModule(d_model, kernel_size, causal=True)
        self.ctc_lo = nn.Linear(d_model, 128)
        pe_positive = torch.zeros(max_len, d_model)
        pe_negative = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float32).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float32) * -(math.log(10000.0) / d_model))
        pe_positive[:, 0::2] = torch.sin(position * div_term)
        pe_positive[:, 1::2] = torch.cos(position * div_term)
        pe_negative[:, 0::2] = torch.sin(-1 * position * div_term)
        pe_negative[:, 1::2] = torch.cos(-1 * position * div_term)
        self.register_buffer("pe", torch.cat([torch.flip(pe_positive, [0]), pe_negative[1:]], dim=0).unsqueeze(0))
        self.bfloat16()

    def forward(self, xs, xs_lens, cnn_cache):
        T = xs.size(1)
        pad = torch.arange(T, device=xs.device).expand(xs.size(0), -1) < xs_lens.unsqueeze(-1)
        masks = pad.unsqueeze(1)
        chunk_masks = subsequent_chunk_mask(T, self.chunk_size, self.left_chunks, xs.device).unsqueeze(0) & masks
        center = self.pe.size(1) // 2
        pos_emb = self.pe[:, center - T + 1: center + T]

        xs = xs + 0.5 * self.ff1(xs)
        xs = xs + self.attn(self.norm_mha(xs), pos_emb, chunk_masks)
        y, new_cache = self.conv_module(self.norm_conv(xs), masks, cnn_cache)
        xs = xs + y
        xs = xs + 0.5 * self.ff2(xs)
        xs = self.norm_final(xs)
        logp = F.log_softmax(self.ctc_lo(xs).float(), dim=-1)
        return xs, logp, new_cache


def get_inputs():
    b, t, d = 16, 512, 256
    return [torch.randn(b, t, d, dtype=torch.bfloat16), torch.arange(t - 16 * (b - 1), t + 1, 16),
            torch.randn(b, d, 14, dtype=torch.bfloat16)]


def get_init_inputs():
    return [256, 4, 15, 64, 4, 1024]
