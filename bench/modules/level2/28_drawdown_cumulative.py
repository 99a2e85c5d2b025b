import torch
import torch.nn as nn

PATHS = 4096
STEPS = 2048
SPAN = 20
VOL = 0.01


class Model(nn.Module):
    """Path statistics with cumulative ops: equity curve, running peak, drawdown, log-mean-exp, rolling mean, recovery."""

    def __init__(self, span, vol):
        super().__init__()
        self.span = span
        self.vol = vol

    def forward(self, noise):
        n = noise.size(1)
        log_ret = self.vol * noise - 0.5 * self.vol ** 2
        log_price = torch.cumsum(log_ret, dim=1)
        peak, _ = torch.cummax(log_price, dim=1)
        trough = torch.cummin(log_price, dim=1).values
        drawdown = 1.0 - torch.exp(log_price - peak)
        max_dd = drawdown.amax(dim=1)

        count = torch.arange(1, n + 1, device=noise.device, dtype=noise.dtype)
        log_mean = torch.logcumsumexp(log_price, dim=1) - torch.log(count)

        csum = torch.cumsum(log_price, dim=1)
        rolling = (csum[:, self.span:] - csum[:, :-self.span]) / self.span

        growth = torch.cumprod(1.0 + 0.1 * self.vol * noise, dim=1)
        reverse = torch.flip(torch.cumsum(torch.flip(log_ret, dims=[1]), dim=1), dims=[1])
        return drawdown, max_dd, log_mean, rolling, growth - reverse, peak - trough


def get_inputs():
    return [torch.randn(PATHS, STEPS)]


def get_init_inputs():
    return [SPAN, VOL]
