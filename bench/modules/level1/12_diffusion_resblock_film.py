import torch
import torch.nn as nn
import torch.nn.functional as F


class GroupNorm32(nn.GroupNorm):
    def forward(self, x):
        return super().forward(x.float()).type(x.dtype)


class Model(nn.Module):
    """ADM / guided-diffusion ResBlock with use_scale_shift_norm (FiLM) and a 1x1 skip."""

    def __init__(self, c_in, c_out, emb_ch, groups):
        super().__init__()
        self.in_layers = nn.Sequential(
            GroupNorm32(groups, c_in),
            nn.SiLU(),
            nn.Conv2d(c_in, c_out, 3, padding=1),
        )
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(emb_ch, 2 * c_out))
        self.out_layers = nn.Sequential(
            GroupNorm32(groups, c_out),
            nn.SiLU(),
            nn.Dropout(p=0),
            nn.Conv2d(c_out, c_out, 3, padding=1),
        )
        self.skip_connection = nn.Conv2d(c_in, c_out, 1)

    def forward(self, x, emb):
        h = self.in_layers(x)
        emb_out = self.emb_layers(emb).type(h.dtype)
        while len(emb_out.shape) < len(h.shape):
            emb_out = emb_out[..., None]
        out_norm, out_rest = self.out_layers[0], self.out_layers[1:]
        scale, shift = torch.chunk(emb_out, 2, dim=1)
        h = out_norm(h) * (1 + scale) + shift
        h = out_rest(h)
        return self.skip_connection(x) + h


N = 8
C_IN = 256
C_OUT = 320
HW = 64
EMB = 1280
GROUPS = 32


def get_inputs():
    return [torch.randn(N, C_IN, HW, HW), torch.randn(N, EMB)]


def get_init_inputs():
    return [C_IN, C_OUT, EMB, GROUPS]
