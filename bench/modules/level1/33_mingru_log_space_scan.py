import torch
import torch.nn as nn
import torch.nn.functional as F


def heinsen_associative_scan_log(log_coeffs, log_values):
    a_star = log_coeffs.cumsum(dim=1)
    log_h0_plus_b_star = (log_values - a_star).logcumsumexp(dim=1)
    log_h = a_star + log_h0_plus_b_star
    return log_h.exp()


def g(x):
    return torch.where(x >= 0, x + 0.5, x.sigmoid())


def log_g(x):
    return torch.where(x >= 0, (F.relu(x) + 0.5).log(), -F.softplus(-x))


class Model(nn.Module):
    """minGRU with the log-space parallel scan and an initial hidden state."""

    def __init__(self, dim, dim_inner):
        super().__init__()
        self.to_hidden_and_gate = nn.Linear(dim, dim_inner * 2, bias=False)
        self.to_out = nn.Linear(dim_inner, dim, bias=False)

    def forward(self, x, prev_hidden):
        hidden, gate = self.to_hidden_and_gate(x).chunk(2, dim=-1)
        log_coeffs = -F.softplus(gate)
        log_z = -F.softplus(-gate)
        log_tilde_h = log_g(hidden)
        log_values = log_z + log_tilde_h
        log_values = torch.cat((log_g(prev_hidden), log_values), dim=1)
        log_coeffs = F.pad(log_coeffs, (0, 0, 1, 0))
        out = heinsen_associative_scan_log(log_coeffs, log_values)
        out = out[:, -x.shape[1]:]
        next_prev_hidden = out[:, -1:]
        return self.to_out(out), next_prev_hidden


batch = 8
length = 512
dim = 1024
dim_inner = 1536


def get_inputs():
    return [torch.randn(batch, length, dim), torch.randn(batch, 1, dim_inner)]


def get_init_inputs():
    return [dim, dim_inner]
