import torch
import torch.nn as nn
import torch.nn.functional as F


def segsum(x):
    """exp(segsum(A)) produces a 1-semiseparable matrix."""
    T = x.size(-1)
    x = x.unsqueeze(-1).expand(*x.shape, T)
    mask = torch.tril(torch.ones(T, T, device=x.device, dtype=torch.bool), diagonal=-1)
    x = x.masked_fill(~mask, 0)
    x_segsum = torch.cumsum(x, dim=-2)
    mask = torch.tril(torch.ones(T, T, device=x.device, dtype=torch.bool), diagonal=0)
    return x_segsum.masked_fill(~mask, -torch.inf)


class Model(nn.Module):
    """Mamba-2's minimal chunked SSD (state-space duality) with softplus dt, A_log and the D skip."""

    def __init__(self, nheads, headdim, ngroups, dstate, block_len):
        super().__init__()
        self.nheads, self.headdim, self.ngroups = nheads, headdim, ngroups
        self.block_len = block_len
        self.A_log = nn.Parameter(torch.log(torch.linspace(1.0, 16.0, nheads)))
        self.dt_bias = nn.Parameter(torch.randn(nheads) * 0.2 - 2.0)
        self.D = nn.Parameter(torch.ones(nheads))

    def forward(self, x, dt, B, C):
        b, l, h, p = x.shape
        n = B.shape[-1]
        L = self.block_len
        c = l // L
        dt = F.softplus(dt + self.dt_bias)
        A = -torch.exp(self.A_log) * dt
        rep = h // self.ngroups
        B = B.repeat_interleave(rep, dim=2)
        C = C.repeat_interleave(rep, dim=2)

        X = (x * dt.unsqueeze(-1)).reshape(b, c, L, h, p)
        A = A.reshape(b, c, L, h).permute(0, 3, 1, 2)
        B = B.reshape(b, c, L, h, n)
        C = C.reshape(b, c, L, h, n)
        A_cumsum = torch.cumsum(A, dim=-1)

        # 1. diagonal blocks
        Lmat = torch.exp(segsum(A))
        Y_diag = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", C, B, Lmat, X)
        # 2. state of each chunk
        decay_states = torch.exp((A_cumsum[:, :, :, -1:] - A_cumsum))
        states = torch.einsum("bclhn,bhcl,bclhp->bchpn", B, decay_states, X)
        # 3. recurrence between chunks
        states = torch.cat([torch.zeros_like(states[:, :1]), states], dim=1)
        decay_chunk = torch.exp(segsum(F.pad(A_cumsum[:, :, :, -1], (1, 0))))
        new_states = torch.einsum("bhzc,bchpn->bzhpn", decay_chunk, states)
        states, final_state = new_states[:, :-1], new_states[:, -1]
        # 4. state -> output
        state_decay_out = torch.exp(A_cumsum)
        Y_off = torch.einsum("bclhn,bchpn,bhcl->bclhp", C, states, state_decay_out)
        Y = (Y_diag + Y_off).reshape(b, l, h, p) + self.D[:, None] * x
        return Y, final_state


batch = 2
seqlen = 2048
nheads = 16
headdim = 64
ngroups = 2
dstate = 64
block_len = 64


def get_inputs():
    return [
        torch.randn(batch, seqlen, nheads, headdim),
        torch.randn(batch, seqlen, nheads),
        torch.randn(batch, seqlen, ngroups, dstate),
        torch.randn(batch, seqlen, ngroups, dstate),
    ]


def get_init_inputs():
    return [nheads, headdim, ngroups, dstate, block_len]
