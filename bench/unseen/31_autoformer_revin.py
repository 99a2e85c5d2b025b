import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class RevIN(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.affine_weight = nn.Parameter(torch.ones(num_features))
        self.affine_bias = nn.Parameter(torch.zeros(num_features))

    def norm(self, x):
        self_mean = torch.mean(x, dim=1, keepdim=True).detach()
        self_std = torch.sqrt(torch.var(x, dim=1, keepdim=True, unbiased=False) + self.eps).detach()
        x = (x - self_mean) / self_std
        return x * self.affine_weight + self.affine_bias, self_mean, self_std

    def denorm(self, x, mean, std):
        x = (x - self.affine_bias) / (self.affine_weight + self.eps * self.eps)
        return x * std + mean


class moving_avg(nn.Module):
    def __init__(self, kernel_size, stride):
        super().__init__()
        self.kernel_size = kernel_size
        self.avg = nn.AvgPool1d(kernel_size=kernel_size, stride=stride, padding=0)

    def forward(self, x):
        front = x[:, 0:1, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (self.kernel_size - 1) // 2, 1)
        x = torch.cat([front, x, end], dim=1)
        return self.avg(x.permute(0, 2, 1)).permute(0, 2, 1)


class series_decomp(nn.Module):
    def __init__(self, kernel_size):
        super().__init__()
        self.moving_avg = moving_avg(kernel_size, stride=1)

    def forward(self, x):
        moving_mean = self.moving_avg(x)
        return x - moving_mean, moving_mean


class AutoCorrelationLayer(nn.Module):
    def __init__(self, d_model, n_heads, factor=1):
        super().__init__()
        self.factor, self.n_heads = factor, n_heads
        self.query_projection = nn.Linear(d_model, d_model)
        self.key_projection = nn.Linear(d_model, d_model)
        self.value_projection = nn.Linear(d_model, d_model)
        self.out_projection = nn.Linear(d_model, d_model)

    def time_delay_agg_inference(self, values, corr):
        batch, head, channel, length = values.shape
        init_index = torch.arange(length, device=values.device).unsqueeze(0).unsqueeze(0).unsqueeze(0).repeat(batch, head, channel, 1)
        top_k = int(self.factor * math.log(length))
        mean_value = torch.mean(torch.mean(corr, dim=1), dim=1)
        weights, delay = torch.topk(mean_value, top_k, dim=-1)
        tmp_corr = torch.softmax(weights, dim=-1)
        tmp_values = values.repeat(1, 1, 1, 2)
        delays_agg = torch.zeros_like(values).float()
        for i in range(top_k):
            tmp_delay = init_index + delay[:, i].unsqueeze(1).unsqueeze(1).unsqueeze(1).repeat(1, head, channel, length)
            pattern = torch.gather(tmp_values, dim=-1, index=tmp_delay)
            delays_agg = delays_agg + pattern * (tmp_corr[:, i].unsqueeze(1).unsqueeze(1).unsqueeze(1).repeat(1, head, channel, length))
        return delays_agg

    def forward(self, x):
        B, L, _ = x.shape
        H = self.n_heads
        queries = self.query_projection(x).view(B, L, H, -1)
        keys = self.key_projection(x).view(B, L, H, -1)
        values = self.value_projection(x).view(B, L, H, -1)
        q_fft = torch.fft.rfft(queries.permute(0, 2, 3, 1).contiguous(), dim=-1)
        k_fft = torch.fft.rfft(keys.permute(0, 2, 3, 1).contiguous(), dim=-1)
        res = q_fft * torch.conj(k_fft)
        corr = torch.fft.irfft(res, n=L, dim=-1)
        V = self.time_delay_agg_inference(values.permute(0, 2, 3, 1).contiguous(), corr).permute(0, 3, 1, 2)
        return self.out_projection(V.reshape(B, L, -1))


class my_Layernorm(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layernorm = nn.LayerNorm(channels)

    def forward(self, x):
        x_hat = self.layernorm(x)
        bias = torch.mean(x_hat, dim=1).unsqueeze(1).repeat(1, x.shape[1], 1)
        return x_hat - bias


class Model(nn.Module):
    def __init__(self, c_in, d_model, n_heads, d_ff, moving_avg_kernel, seq_len, pred_len):
        super().__init__()
        self.revin = RevIN(c_in)
        self.value_embedding = nn.Conv1d(c_in, d_model, kernel_size=3, padding=1, padding_mode="circular", bias=False)
        self.attention = AutoCorrelationLayer(d_model, n_heads)
        self.conv1 = nn.Conv1d(d_model, d_ff, kernel_size=1, bias=False)
        self.conv2 = nn.Conv1d(d_ff, d_model, kernel_size=1, bias=False)
        self.decomp1 = series_decomp(moving_avg_kernel)
        self.decomp2 = series_decomp(moving_avg_kernel)
        self.norm = my_Layernorm(d_model)
        self.projection = nn.Linear(d_model, c_in)
        self.linear_trend = nn.Linear(seq_len, pred_len)
        self.linear_seasonal = nn.Linear(seq_len, pred_len)

    def forward(self, x):
        x, mean, std = self.revin.norm(x)
        seasonal, trend = self.decomp1(x)
        h = self.value_embedding(seasonal.permute(0, 2, 1)).transpose(1, 2)
        h, t1 = self.decomp1(h + self.attention(h))
        y = F.gelu(self.conv1(h.transpose(-1, 1)))
        y = self.conv2(y).transpose(-1, 1)
        h, t2 = self.decomp2(h + y)
        h = self.projection(self.norm(h) + t1 + t2)
        out = self.linear_seasonal(h.permute(0, 2, 1)) + self.linear_trend(trend.permute(0, 2, 1))
        return self.revin.denorm(out.permute(0, 2, 1), mean, std)


def get_inputs():
    t = torch.arange(336).float()[None, :, None]
    x = torch.sin(2 * math.pi * t / torch.tensor([24.0, 12.0, 168.0, 36.0, 48.0, 18.0, 96.0])) + 0.3 * torch.randn(32, 336, 7)
    return [x + 5 * torch.rand(32, 1, 7)]


def get_init_inputs():
    return [7, 128, 8, 256, 25, 336, 96]
