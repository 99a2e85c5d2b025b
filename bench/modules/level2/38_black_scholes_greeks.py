import math

import torch
import torch.nn as nn

NUM_OPTIONS = 8388608


class Model(nn.Module):
    """European option prices and Greeks; the normal CDF by the Abramowitz-Stegun polynomial."""

    def __init__(self, rate=0.03, dividend=0.01):
        super().__init__()
        self.rate = rate
        self.dividend = dividend
        self.coeffs = (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)

    def pdf(self, x):
        return torch.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)

    def cdf(self, x):
        ax = torch.abs(x)
        k = 1.0 / (1.0 + 0.2316419 * ax)
        poly = torch.zeros_like(k)
        for c in reversed(self.coeffs):
            poly = (poly + c) * k
        tail = self.pdf(ax) * poly
        return torch.where(x >= 0, 1.0 - tail, tail)

    def forward(self, u_spot, u_strike, u_time, u_vol):
        S = 50.0 + 100.0 * u_spot
        K = 50.0 + 100.0 * u_strike
        T = 0.1 + 2.0 * u_time
        sigma = 0.1 + 0.4 * u_vol

        sqrt_t = torch.sqrt(T)
        d1 = (torch.log(S / K) + (self.rate - self.dividend + 0.5 * sigma ** 2) * T) / (sigma * sqrt_t)
        d2 = d1 - sigma * sqrt_t
        disc = torch.exp(-self.rate * T)
        fwd = torch.exp(-self.dividend * T)
        nd1, nd2, pd1 = self.cdf(d1), self.cdf(d2), self.pdf(d1)

        call = S * fwd * nd1 - K * disc * nd2
        put = call - S * fwd + K * disc
        gamma = fwd * pd1 / (S * sigma * sqrt_t)
        vega = S * fwd * pd1 * sqrt_t * 0.01
        theta = (-S * fwd * pd1 * sigma / (2.0 * sqrt_t) - self.rate * K * disc * nd2 + self.dividend * S * fwd * nd1) / 365.0
        return {"call": call, "put": put, "delta": fwd * nd1, "gamma": gamma, "vega": vega, "theta": theta}


def get_inputs():
    return [torch.rand(NUM_OPTIONS) for _ in range(4)]


def get_init_inputs():
    return []
