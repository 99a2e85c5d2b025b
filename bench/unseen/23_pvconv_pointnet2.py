import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def square_distance(src, dst):
    B, N, _ = src.shape
    _, M, _ = dst.shape
    dist = -2 * torch.matmul(src, dst.permute(0, 2, 1))
    dist += torch.sum(src ** 2, -1).view(B, N, 1)
    dist += torch.sum(dst ** 2, -1).view(B, 1, M)
    return dist


def index_points(points, idx):
    device = points.device
    B = points.shape[0]
    view_shape = list(idx.shape)
    view_shape[1:] = [1] * (len(view_shape) - 1)
    repeat_shape = list(idx.shape)
    repeat_shape[0] = 1
    batch_indices = torch.arange(B, dtype=torch.long).to(device).view(view_shape).repeat(repeat_shape)
    return points[batch_indices, idx, :]


def farthest_point_sample(xyz, npoint):
    device = xyz.device
    B, N, C = xyz.shape
    centroids = torch.zeros(B, npoint, dtype=torch.long).to(device)
    distance = torch.ones(B, N).to(device) * 1e10
    farthest = torch.zeros(B, dtype=torch.long, device=device)
    batch_indices = torch.arange(B, dtype=torch.long).to(device)
    for i in range(npoint):
        centroids[:, i] = farthest
        centroid = xyz[batch_indices, farthest, :].view(B, 1, 3)
        dist = torch.sum((xyz - centroid) ** 2, -1)
        mask = dist < distance
        distance[mask] = dist[mask]
        farthest = torch.max(distance, -1)[1]
    return centroids


def query_ball_point(radius, nsample, xyz, new_xyz):
    B, N, C = xyz.shape
    _, S, _ = new_xyz.shape
    group_idx = torch.arange(N, dtype=torch.long).to(xyz.device).view(1, 1, N).repeat([B, S, 1])
    # direct differences: the expanded form loses the self distance
    sqrdists = (new_xyz.unsqueeze(2) - xyz.unsqueeze(1)).pow(2).sum(-1)
    group_idx[sqrdists > radius ** 2] = N
    group_idx = group_idx.sort(dim=-1)[0][:, :, :nsample]
    group_first = group_idx[:, :, 0].view(B, S, 1).repeat([1, 1, nsample])
    mask = group_idx == N
    group_idx[mask] = group_first[mask]
    return group_idx


class PVConv(nn.Module):
    """Point-voxel convolution: mean voxelisation, 3D convolutions with SE, trilinear devoxelisation, a point MLP beside it."""

    def __init__(self, in_channels, out_channels, resolution):
        super().__init__()
        self.r = resolution
        self.voxel_layers = nn.Sequential(
            nn.Conv3d(in_channels, out_channels, 3, padding=1), nn.BatchNorm3d(out_channels, eps=1e-4), nn.LeakyReLU(0.1, True),
            nn.Conv3d(out_channels, out_channels, 3, padding=1), nn.BatchNorm3d(out_channels, eps=1e-4), nn.LeakyReLU(0.1, True))
        self.se = nn.Sequential(nn.Linear(out_channels, out_channels // 8), nn.ReLU(inplace=True), nn.Linear(out_channels // 8, out_channels), nn.Sigmoid())
        self.point_features = nn.Sequential(nn.Conv1d(in_channels, out_channels, 1), nn.BatchNorm1d(out_channels), nn.ReLU(True))

    def forward(self, features, coords):
        # features [B, C, N], coords [B, 3, N]
        B, C, N = features.shape
        r = self.r
        norm_coords = coords - coords.mean(2, keepdim=True)
        norm_coords = norm_coords / (norm_coords.norm(dim=1, keepdim=True).max(dim=2, keepdim=True).values * 2.0) + 0.5
        norm_coords = torch.clamp(norm_coords * r, 0, r - 1)
        vox = torch.round(norm_coords).to(torch.int64)
        flat = (vox[:, 0] * r + vox[:, 1]) * r + vox[:, 2]
        grid = features.new_zeros(B, C, r ** 3)
        grid.scatter_add_(2, flat.unsqueeze(1).expand(-1, C, -1), features)
        cnt = features.new_zeros(B, r ** 3).scatter_add_(1, flat, features.new_ones(B, N))
        grid = grid / cnt.clamp(min=1).unsqueeze(1)
        v = self.voxel_layers(grid.view(B, C, r, r, r))
        v = v * self.se(v.mean(-1).mean(-1).mean(-1)).view(B, -1, 1, 1, 1)
        g = (norm_coords / (r - 1) * 2 - 1).flip(1).transpose(1, 2).view(B, N, 1, 1, 3)
        devox = F.grid_sample(v, g, mode="bilinear", padding_mode="border", align_corners=True).view(B, -1, N)
        return devox + self.point_features(features)


class Model(nn.Module):
    def __init__(self, in_channels, width, resolution, npoint, radius, nsample, num_classes):
        super().__init__()
        self.npoint, self.radius, self.nsample = npoint, radius, nsample
        self.pvconv = PVConv(in_channels, width, resolution)
        chans = [width + 3, width, width, width * 2]
        self.mlp_convs = nn.ModuleList([nn.Conv2d(a, b, 1) for a, b in zip(chans[:-1], chans[1:])])
        self.mlp_bns = nn.ModuleList([nn.BatchNorm2d(b) for b in chans[1:]])
        self.fp = nn.Sequential(nn.Conv1d(3 * width, width, 1), nn.BatchNorm1d(width), nn.ReLU())
        self.cls = nn.Conv1d(width, num_classes, 1)

    def forward(self, xyz, feat):
        # xyz [B, N, 3], feat [B, N, C]
        B, N, _ = xyz.shape
        x = self.pvconv(torch.cat([xyz, feat], dim=-1).transpose(1, 2), xyz.transpose(1, 2))
        points = x.transpose(1, 2)

        fps_idx = farthest_point_sample(xyz, self.npoint)
        new_xyz = index_points(xyz, fps_idx)
        idx = query_ball_point(self.radius, self.nsample, xyz, new_xyz)
        grouped_xyz = index_points(xyz, idx) - new_xyz.view(B, self.npoint, 1, 3)
        new_points = torch.cat([grouped_xyz / self.radius, index_points(points, idx)], dim=-1).permute(0, 3, 2, 1)
        for conv, bn in zip(self.mlp_convs, self.mlp_bns):
            new_points = F.relu(bn(conv(new_points)))
        new_points = torch.max(new_points, 2)[0]

        # feature propagation by the three nearest, inverse distance weighted
        dists, nn_idx = square_distance(xyz, new_xyz).topk(3, dim=-1, largest=False)
        dist_recip = 1.0 / (dists.clamp(min=0) + 1e-4)
        weight = dist_recip / torch.sum(dist_recip, dim=2, keepdim=True)
        interpolated = torch.sum(index_points(new_points.transpose(1, 2), nn_idx) * weight.view(B, N, 3, 1), dim=2)
        y = self.fp(torch.cat([points, interpolated], dim=-1).permute(0, 2, 1))
        return F.log_softmax(self.cls(y).transpose(1, 2), dim=-1), new_xyz, new_points


def get_inputs():
    b, n = 8, 4096
    p = torch.randn(b, n, 3)
    p = p / p.norm(dim=-1, keepdim=True) * (0.6 + 0.4 * torch.rand(b, n, 1))
    return [p, torch.randn(b, n, 29)]


def get_init_inputs():
    return [32, 64, 24, 64, 0.3, 32, 13]
