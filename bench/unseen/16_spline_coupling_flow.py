import math

import torch
import torch.nn as nn
import torch.nn.functional as F

DEFAULT_MIN_BIN_WIDTH = 1e-3
DEFAULT_MIN_BIN_HEIGHT = 1e-3
DEFAULT_MIN_DERIVATIVE = 1e-3


def searchsorted(bin_locations, inputs, eps=1e-6):
    bin_locations[..., -1] += eps
    return torch.sum(inputs[..., None] >= bin_locations, dim=-1) - 1


def rational_quadratic_spline(inputs, unnormalized_widths, unnormalized_heights, unnormalized_derivatives, left, right, bottom, top):
    num_bins = unnormalized_widths.shape[-1]
    widths = F.softmax(unnormalized_widths, dim=-1)
    widths = DEFAULT_MIN_BIN_WIDTH + (1 - DEFAULT_MIN_BIN_WIDTH * num_bins) * widths
    cumwidths = torch.cumsum(widths, dim=-1)
    cumwidths = F.pad(cumwidths, pad=(1, 0), mode="constant", value=0.0)
    cumwidths = (right - left) * cumwidths + left
    cumwidths[..., 0] = left
    cumwidths[..., -1] = right
    widths = cumwidths[..., 1:] - cumwidths[..., :-1]

    derivatives = DEFAULT_MIN_DERIVATIVE + F.softplus(unnormalized_derivatives)

    heights = F.softmax(unnormalized_heights, dim=-1)
    heights = DEFAULT_MIN_BIN_HEIGHT + (1 - DEFAULT_MIN_BIN_HEIGHT * num_bins) * heights
    cumheights = torch.cumsum(heights, dim=-1)
    cumheights = F.pad(cumheights, pad=(1, 0), mode="constant", value=0.0)
    cumheights = (top - bottom) * cumheights + bottom
    cumheights[..., 0] = bottom
    cumheights[..., -1] = top
    heights = cumheights[..., 1:] - cumheights[..., :-1]

    bin_idx = searchsorted(cumwidths, inputs)[..., None]
    input_cumwidths = cumwidths.gather(-1, bin_idx)[..., 0]
    input_bin_widths = widths.gather(-1, bin_idx)[..., 0]
    input_cumheights = cumheights.gather(-1, bin_idx)[..., 0]
    delta = heights / widths
    input_delta = delta.gather(-1, bin_idx)[..., 0]
    input_derivatives = derivatives.gather(-1, bin_idx)[..., 0]
    input_derivatives_plus_one = derivatives[..., 1:].gather(-1, bin_idx)[..., 0]
    input_heights = heights.gather(-1, bin_idx)[..., 0]

    theta = (inputs - input_cumwidths) / input_bin_widths
    theta_one_minus_theta = theta * (1 - theta)
    numerator = input_heights * (input_delta * theta.pow(2) + input_derivatives * theta_one_minus_theta)
    denominator = input_delta + ((input_derivatives + input_derivatives_plus_one - 2 * input_delta) * theta_one_minus_theta)
    outputs = input_cumheights + numerator / denominator
    derivative_numerator = input_delta.pow(2) * (
        input_derivatives_plus_one * theta.pow(2) + 2 * input_delta * theta_one_minus_theta + input_derivatives * (1 - theta).pow(2))
    logabsdet = torch.log(derivative_numerator) - 2 * torch.log(denominator)
    return outputs, logabsdet


def unconstrained_rqs(inputs, w, h, d, tail_bound):
    inside = (inputs >= -tail_bound) & (inputs <= tail_bound)
    d = F.pad(d, pad=(1, 1))
    constant = math.log(math.exp(1 - DEFAULT_MIN_DERIVATIVE) - 1)
    d[..., 0] = constant
    d[..., -1] = constant
    y, lad = rational_quadratic_spline(inputs.clamp(-tail_bound, tail_bound), w, h, d, -tail_bound, tail_bound, -tail_bound, tail_bound)
    return torch.where(inside, y, inputs), torch.where(inside, lad, torch.zeros_like(lad))


class SpectralLinear(nn.Module):
    def __init__(self, fin, fout, n_iter=2, coeff=3.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(fout, fin) / math.sqrt(fin))
        self.bias = nn.Parameter(torch.zeros(fout))
        self.register_buffer("u", F.normalize(torch.randn(fout), dim=0))
        self.n_iter, self.coeff = n_iter, coeff

    def forward(self, x):
        u = self.u
        for _ in range(self.n_iter):
            v = F.normalize(torch.mv(self.weight.t(), u), dim=0)
            u = F.normalize(torch.mv(self.weight, v), dim=0)
        sigma = torch.dot(u, torch.mv(self.weight, v))
        factor = torch.max(torch.ones(1, device=x.device), sigma / self.coeff)
        return F.linear(x, self.weight / factor, self.bias)


class Conditioner(nn.Module):
    def __init__(self, in_f, ctx, hidden, out_f):
        super().__init__()
        self.initial_layer = nn.Linear(in_f + ctx, hidden)
        self.l1, self.l2 = SpectralLinear(hidden, hidden), SpectralLinear(hidden, hidden)
        self.ctx = nn.Linear(ctx, hidden)
        self.final = nn.Linear(hidden, out_f)

    def forward(self, x, context):
        t = self.initial_layer(torch.cat((x, context), dim=1))
        r = self.l2(F.relu(self.l1(F.relu(t))))
        t = t + F.glu(torch.cat((r, self.ctx(context)), dim=1), dim=1)
        return self.final(t)


class Model(nn.Module):
    def __init__(self, features, context_features, hidden, num_bins, tail_bound, num_layers):
        super().__init__()
        self.features, self.num_bins, self.tail_bound, self.hidden = features, num_bins, tail_bound, hidden
        half = features // 2
        self.nets = nn.ModuleList([Conditioner(half, context_features, hidden, half * (3 * num_bins - 1)) for _ in range(num_layers)])
        perms = torch.stack([torch.randperm(features) for _ in range(num_layers)])
        self.register_buffer("perms", perms)

    def forward(self, inputs, context):
        x = inputs
        total = torch.zeros(x.shape[0], device=x.device)
        for i, net in enumerate(self.nets):
            x = torch.index_select(x, 1, self.perms[i])
            identity, transform = x[:, 0::2], x[:, 1::2]
            params = net(identity, context).reshape(x.shape[0], transform.shape[1], -1)
            w = params[..., : self.num_bins] / math.sqrt(self.hidden)
            h = params[..., self.num_bins: 2 * self.num_bins] / math.sqrt(self.hidden)
            d = params[..., 2 * self.num_bins:]
            t, lad = unconstrained_rqs(transform, w, h, d, self.tail_bound)
            total = total + lad.reshape(lad.shape[0], -1).sum(-1)
            out = torch.empty_like(x)
            out[:, 0::2] = identity
            out[:, 1::2] = t
            x = out
        log_z = 0.5 * self.features * math.log(2 * math.pi)
        neg_energy = -0.5 * torch.sum(x ** 2, dim=1)
        return neg_energy - log_z + total, x


def get_inputs():
    return [torch.randn(8192, 32), torch.randn(8192, 16)]


def get_init_inputs():
    return [32, 16, 128, 8, 3.0, 2]
