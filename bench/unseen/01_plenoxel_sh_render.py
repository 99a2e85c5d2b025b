import math

import torch
import torch.nn as nn
import torch.nn.functional as F

SH_C0 = 0.28209479177387814
SH_C1 = 0.4886025119029199
SH_C2 = [1.0925484305920792, -1.0925484305920792, 0.31539156525252005, -1.0925484305920792, 0.5462742152960396]
SH_C3 = [-0.5900435899266435, 2.890611442640554, -0.4570457994644658, 0.3731763325901154, -0.4570457994644658,
         1.445305721320277, -0.5900435899266435]


def eval_sh_bases(basis_dim, dirs):
    result = torch.empty((*dirs.shape[:-1], basis_dim), dtype=dirs.dtype, device=dirs.device)
    result[..., 0] = SH_C0
    if basis_dim > 1:
        x, y, z = dirs.unbind(-1)
        result[..., 1] = -SH_C1 * y
        result[..., 2] = SH_C1 * z
        result[..., 3] = -SH_C1 * x
        if basis_dim > 4:
            xx, yy, zz = x * x, y * y, z * z
            xy, yz, xz = x * y, y * z, x * z
            result[..., 4] = SH_C2[0] * xy
            result[..., 5] = SH_C2[1] * yz
            result[..., 6] = SH_C2[2] * (2.0 * zz - xx - yy)
            result[..., 7] = SH_C2[3] * xz
            result[..., 8] = SH_C2[4] * (xx - yy)
            if basis_dim > 9:
                result[..., 9] = SH_C3[0] * y * (3 * xx - yy)
                result[..., 10] = SH_C3[1] * xy * z
                result[..., 11] = SH_C3[2] * y * (4 * zz - xx - yy)
                result[..., 12] = SH_C3[3] * z * (2 * zz - 3 * xx - 3 * yy)
                result[..., 13] = SH_C3[4] * x * (4 * zz - xx - yy)
                result[..., 14] = SH_C3[5] * z * (xx - yy)
                result[..., 15] = SH_C3[6] * x * (xx - 3 * yy)
    return result


def near_far_from_aabb(rays_o, rays_d, aabb, min_near=0.05):
    inv_d = 1.0 / (rays_d + 1e-15)
    tmin = (aabb[:3] - rays_o) * inv_d
    tmax = (aabb[3:] - rays_o) * inv_d
    near = torch.where(tmin < tmax, tmin, tmax).max(dim=-1, keepdim=True)[0]
    far = torch.where(tmin > tmax, tmin, tmax).min(dim=-1, keepdim=True)[0]
    mask = far < near
    near[mask] = 1e9
    far[mask] = 1e9
    near = torch.clamp(near, min=min_near)
    return near, far


class Model(nn.Module):
    """Dense voxel radiance field: sample along rays, SH colors, alpha compositing with white background."""

    def __init__(self, num_samples, basis_dim, density_shift, bound):
        super().__init__()
        self.num_samples = num_samples
        self.basis_dim = basis_dim
        self.density_shift = density_shift
        self.register_buffer("aabb", torch.tensor([-bound] * 3 + [bound] * 3, dtype=torch.float32))

    def forward(self, rays_o, rays_d, sh_coeffs, sigma_raw):
        # rays_o/rays_d: [N, 3], sh_coeffs: [N, S, 3 * B], sigma_raw: [N, S]
        N, S = sigma_raw.shape
        viewdirs = rays_d / torch.norm(rays_d, dim=-1, keepdim=True)
        nears, fars = near_far_from_aabb(rays_o, rays_d, self.aabb)

        z_vals = torch.linspace(0.0, 1.0, S, device=rays_o.device).unsqueeze(0).expand((N, S))
        z_vals = nears + (fars - nears) * z_vals
        sample_dist = (fars - nears) / S
        deltas = z_vals[..., 1:] - z_vals[..., :-1]
        deltas = torch.cat([deltas, sample_dist * torch.ones_like(deltas[..., :1])], dim=-1)

        xyzs = rays_o.unsqueeze(-2) + rays_d.unsqueeze(-2) * z_vals.unsqueeze(-1)
        inside = ((xyzs >= self.aabb[:3]) & (xyzs <= self.aabb[3:])).all(dim=-1)

        sigmas = F.softplus(sigma_raw + self.density_shift)
        sigmas = sigmas.masked_fill(~inside, 0.0)
        sh_mult = eval_sh_bases(self.basis_dim, viewdirs)[:, None, None, :]
        rgb_sh = sh_coeffs.reshape(N, S, 3, self.basis_dim)
        rgbs = torch.sigmoid((sh_mult * rgb_sh).sum(-1))

        alphas = 1 - torch.exp(-deltas * sigmas)
        alphas_shifted = torch.cat([torch.ones_like(alphas[..., :1]), 1 - alphas + 1e-15], dim=-1)
        weights = alphas * torch.cumprod(alphas_shifted, dim=-1)[..., :-1]
        weights_sum = weights.sum(dim=-1)

        ori_z_vals = ((z_vals - nears) / (fars - nears).clamp_min(1e-6)).clamp(0, 1)
        depth = torch.sum(weights * ori_z_vals, dim=-1)
        image = torch.sum(weights.unsqueeze(-1) * rgbs, dim=-2)
        image = image + (1 - weights_sum).unsqueeze(-1) * 1.0
        # mip-nerf 360 distortion
        mid = ori_z_vals + 0.5 / S
        loss_uni = (1 / 3) * ((1.0 / S) * weights.pow(2)).sum(-1)
        wm = weights * mid
        loss_bi = 2 * (wm[:, 1:] * weights.cumsum(-1)[:, :-1] - weights[:, 1:] * wm.cumsum(-1)[:, :-1]).sum(-1)
        return image, depth, weights_sum, loss_uni + loss_bi


N_RAYS, N_SAMPLES, BASIS = 4096, 64, 9


def get_inputs():
    o = torch.randn(N_RAYS, 3)
    o = 3.0 * o / o.norm(dim=-1, keepdim=True)
    target = (torch.rand(N_RAYS, 3) - 0.5) * 2.4
    return [o, target - o, torch.randn(N_RAYS, N_SAMPLES, 3 * BASIS), torch.randn(N_RAYS, N_SAMPLES) * 4]


def get_init_inputs():
    return [N_SAMPLES, BASIS, -2.0, 1.0]
