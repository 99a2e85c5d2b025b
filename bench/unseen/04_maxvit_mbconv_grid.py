import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def window_partition(x, window_size):
    B, C, H, W = x.shape
    windows = x.view(B, C, H // window_size[0], window_size[0], W // window_size[1], window_size[1])
    return windows.permute(0, 2, 4, 3, 5, 1).contiguous().view(-1, window_size[0], window_size[1], C)


def window_reverse(windows, original_size, window_size):
    H, W = original_size
    B = int(windows.shape[0] / (H * W / window_size[0] / window_size[1]))
    output = windows.view(B, H // window_size[0], W // window_size[1], window_size[0], window_size[1], -1)
    return output.permute(0, 5, 1, 3, 2, 4).contiguous().view(B, -1, H, W)


def grid_partition(x, grid_size):
    B, C, H, W = x.shape
    grid = x.view(B, C, grid_size[0], H // grid_size[0], grid_size[1], W // grid_size[1])
    return grid.permute(0, 3, 5, 2, 4, 1).contiguous().view(-1, grid_size[0], grid_size[1], C)


def grid_reverse(grid, original_size, grid_size):
    (H, W), C = original_size, grid.shape[-1]
    B = int(grid.shape[0] / (H * W / grid_size[0] / grid_size[1]))
    output = grid.view(B, H // grid_size[0], W // grid_size[1], grid_size[0], grid_size[1], C)
    return output.permute(0, 5, 3, 1, 4, 2).contiguous().view(B, C, H, W)


def get_relative_position_index(win_h, win_w):
    coords = torch.stack(torch.meshgrid([torch.arange(win_h), torch.arange(win_w)], indexing="ij"))
    coords_flatten = torch.flatten(coords, 1)
    relative_coords = coords_flatten[:, :, None] - coords_flatten[:, None, :]
    relative_coords = relative_coords.permute(1, 2, 0).contiguous()
    relative_coords[:, :, 0] += win_h - 1
    relative_coords[:, :, 1] += win_w - 1
    relative_coords[:, :, 0] *= 2 * win_w - 1
    return relative_coords.sum(-1)


class SqueezeExcite(nn.Module):
    def __init__(self, chs, rd_chs):
        super().__init__()
        self.fc1 = nn.Conv2d(chs, rd_chs, 1)
        self.fc2 = nn.Conv2d(rd_chs, chs, 1)

    def forward(self, x):
        s = x.mean((2, 3), keepdim=True)
        s = self.fc2(F.silu(self.fc1(s), inplace=True))
        return x * s.sigmoid()


class MBConv(nn.Module):
    def __init__(self, in_channels, out_channels, expand=4):
        super().__init__()
        mid = out_channels * expand
        self.pre_norm = nn.BatchNorm2d(in_channels)
        self.conv1_1x1 = nn.Conv2d(in_channels, mid, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(mid)
        self.conv2_kxk = nn.Conv2d(mid, mid, 3, stride=2, padding=1, groups=mid, bias=False)
        self.norm2 = nn.BatchNorm2d(mid)
        self.se = SqueezeExcite(mid, out_channels // 4)
        self.conv3_1x1 = nn.Conv2d(mid, out_channels, 1)
        self.shortcut = nn.Sequential(nn.AvgPool2d(2, 2), nn.Conv2d(in_channels, out_channels, 1))

    def forward(self, x):
        shortcut = self.shortcut(x)
        x = self.pre_norm(x)
        x = F.gelu(self.norm1(self.conv1_1x1(x)), approximate="tanh")
        x = F.gelu(self.norm2(self.conv2_kxk(x)), approximate="tanh")
        x = self.se(x)
        return self.conv3_1x1(x) + shortcut


class RelativeSelfAttention(nn.Module):
    def __init__(self, dim, num_heads, grid_window_size):
        super().__init__()
        self.num_heads = num_heads
        self.grid_window_size = grid_window_size
        self.scale = num_heads ** -0.5
        self.attn_area = grid_window_size[0] * grid_window_size[1]
        self.qkv_mapping = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.relative_position_bias_table = nn.Parameter(torch.randn((2 * grid_window_size[0] - 1) * (2 * grid_window_size[1] - 1), num_heads) * 0.02)
        self.register_buffer("relative_position_index", get_relative_position_index(*grid_window_size))

    def _get_relative_positional_bias(self):
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(self.attn_area, self.attn_area, -1)
        return bias.permute(2, 0, 1).contiguous().unsqueeze(0)

    def forward(self, input):
        B_, N, C = input.shape
        qkv = self.qkv_mapping(input).reshape(B_, N, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        q = q * self.scale
        attn = F.softmax(q @ k.transpose(-2, -1) + self._get_relative_positional_bias(), dim=-1)
        output = (attn @ v).transpose(1, 2).reshape(B_, N, -1)
        return self.proj(output)


class MaxViTTransformerBlock(nn.Module):
    def __init__(self, dim, partition_function, reverse_function, num_heads, grid_window_size, mlp_ratio=4.0):
        super().__init__()
        self.partition_function = partition_function
        self.reverse_function = reverse_function
        self.grid_window_size = grid_window_size
        self.norm_1 = nn.LayerNorm(dim)
        self.attention = RelativeSelfAttention(dim, num_heads, grid_window_size)
        self.norm_2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, int(mlp_ratio * dim)), nn.GELU(), nn.Linear(int(mlp_ratio * dim), dim))
        self.ls1 = nn.Parameter(torch.full((dim,), 0.1))
        self.ls2 = nn.Parameter(torch.full((dim,), 0.1))

    def forward(self, input):
        B, C, H, W = input.shape
        x = self.partition_function(input, self.grid_window_size)
        x = x.view(-1, self.grid_window_size[0] * self.grid_window_size[1], C)
        x = x + self.ls1 * self.attention(self.norm_1(x))
        x = x + self.ls2 * self.mlp(self.norm_2(x))
        return self.reverse_function(x, (H, W), self.grid_window_size)


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, num_heads, window):
        super().__init__()
        self.mb_conv = MBConv(in_channels, out_channels)
        self.block_transformer = MaxViTTransformerBlock(out_channels, window_partition, window_reverse, num_heads, window)
        self.grid_transformer = MaxViTTransformerBlock(out_channels, grid_partition, grid_reverse, num_heads, window)
        self.to(torch.bfloat16)

    def forward(self, x):
        return self.grid_transformer(self.block_transformer(self.mb_conv(x)))


def get_inputs():
    return [torch.randn(8, 64, 112, 112, dtype=torch.bfloat16)]


def get_init_inputs():
    return [64, 64, 2, (7, 7)]
