import torch
import torch.nn as nn
import torch.nn.functional as F


class OuterProductMean(nn.Module):
    def __init__(self, c_m, c_z, c_hidden, eps=1e-3):
        super().__init__()
        self.eps = eps
        self.layer_norm = nn.LayerNorm(c_m)
        self.linear_1 = nn.Linear(c_m, c_hidden)
        self.linear_2 = nn.Linear(c_m, c_hidden)
        self.linear_out = nn.Linear(c_hidden ** 2, c_z)

    def forward(self, m, mask):
        ln = self.layer_norm(m)
        mask = mask.unsqueeze(-1)
        a = (self.linear_1(ln) * mask).transpose(-2, -3)
        b = (self.linear_2(ln) * mask).transpose(-2, -3)
        outer = torch.einsum("...bac,...dae->...bdce", a, b)
        outer = self.linear_out(outer.reshape(outer.shape[:-2] + (-1,)))
        norm = torch.einsum("...abc,...adc->...bdc", mask, mask)
        return outer / (norm + self.eps)


class TriangleMultiplicativeUpdate(nn.Module):
    def __init__(self, c_z, c_hidden, outgoing):
        super().__init__()
        self.outgoing = outgoing
        self.linear_a_p, self.linear_a_g = nn.Linear(c_z, c_hidden), nn.Linear(c_z, c_hidden)
        self.linear_b_p, self.linear_b_g = nn.Linear(c_z, c_hidden), nn.Linear(c_z, c_hidden)
        self.linear_g, self.linear_z = nn.Linear(c_z, c_z), nn.Linear(c_hidden, c_z)
        self.layer_norm_in, self.layer_norm_out = nn.LayerNorm(c_z), nn.LayerNorm(c_hidden)
        self.sigmoid = nn.Sigmoid()

    def forward(self, z, mask):
        mask = mask.unsqueeze(-1)
        z = self.layer_norm_in(z)
        a = mask * self.sigmoid(self.linear_a_g(z)) * self.linear_a_p(z)
        b = mask * self.sigmoid(self.linear_b_g(z)) * self.linear_b_p(z)
        if self.outgoing:
            x = torch.einsum("bikc,bjkc->bijc", a, b)
        else:
            # sublist spelling of kic,kjc->ijc
            x = torch.einsum(a, [0, 3, 1, 4], b, [0, 3, 2, 4], [0, 1, 2, 4])
        x = self.linear_z(self.layer_norm_out(x))
        return x * self.sigmoid(self.linear_g(z))


class Model(nn.Module):
    """Pair-representation half of an Evoformer block (AlphaFold 2 / OpenFold)."""

    def __init__(self, c_m, c_z, c_opm, c_tri):
        super().__init__()
        self.opm = OuterProductMean(c_m, c_z, c_opm)
        self.tri_out = TriangleMultiplicativeUpdate(c_z, c_tri, True)
        self.tri_in = TriangleMultiplicativeUpdate(c_z, c_tri, False)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=2.0 * m.in_features ** -0.5)

    def forward(self, m, z, msa_mask):
        msa_mask = msa_mask.to(m.dtype)
        seq_mask = msa_mask[:, 0]
        pair_mask = seq_mask[..., :, None] * seq_mask[..., None, :]
        z = z + self.opm(m, msa_mask)
        z = z + self.tri_out(z, pair_mask)
        z = z + self.tri_in(z, pair_mask)
        trace = torch.einsum("biic->bc", z)
        sym = 0.5 * (z + z.transpose(1, 2))
        return sym, trace


N_SEQ = 64
N_RES = 256
C_M = 64
C_Z = 128
C_OPM = 16
C_TRI = 128


def get_inputs():
    return [
        torch.randn(1, N_SEQ, N_RES, C_M),
        torch.randn(1, N_RES, N_RES, C_Z),
        torch.rand(1, N_SEQ, N_RES) > 0.1,
    ]


def get_init_inputs():
    return [C_M, C_Z, C_OPM, C_TRI]
