"""A layer of Mamba-2 780M over 1024 tokens, in four chunks of 256 whose states are joined."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32
WIDTH, INNER, HEADS, STATE, CHUNK = 1536, 3072, 48, 128, 256


def decays(to, since, diagonal=0):
    """What is left at one place of what came at an earlier one, from sums of logarithms; zero above the diagonal."""
    earlier = torch.ones(to.shape[-1], to.shape[-1], dtype=torch.bool, device=to.device).tril(diagonal)
    return (to[..., :, None] - since[..., None, :]).masked_fill(~earlier, float("-inf")).exp()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.inner_norm = nn.RMSNorm(WIDTH, eps=1e-5), nn.RMSNorm(INNER, eps=1e-5)
        self.inward, self.outward = nn.Linear(WIDTH, 2 * INNER + 2 * STATE + HEADS, bias=False), nn.Linear(INNER, WIDTH, bias=False)
        self.conv = nn.Conv1d(INNER + 2 * STATE, INNER + 2 * STATE, 4, padding=3, groups=INNER + 2 * STATE)
        self.decay, self.step = nn.Parameter(torch.arange(1, HEADS + 1).float().log()), nn.Parameter(torch.full((HEADS,), -4.0))
        self.skip = nn.Parameter(torch.ones(HEADS))
        self.to(DTYPE)

    def forward(self, x):
        gate, parts, step = self.inward(self.norm(x)).split([INNER, INNER + 2 * STATE, HEADS], -1)
        parts = F.silu(self.conv(parts.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        y, write, read = (one.unflatten(1, (-1, CHUNK)) for one in parts.split([INNER, STATE, STATE], -1))
        step = F.softplus(step.float() + self.step.float()).unflatten(1, (-1, CHUNK))
        slow = (-self.decay.float().exp() * step).permute(0, 3, 1, 2)  # batch, head, chunk, place
        y = y.unflatten(-1, (HEADS, -1)).permute(0, 3, 1, 2, 4)
        scaled = y * step.permute(0, 3, 1, 2)[..., None].to(y.dtype)
        total = slow.cumsum(-1)
        within = (read @ write.transpose(2, 3))[:, None] * decays(total, total).to(y.dtype) @ scaled
        left = (total[..., -1:] - total).exp().to(y.dtype)
        states = (scaled * left[..., None]).transpose(3, 4) @ write[:, None]
        ends = total[..., -1].cumsum(-1)
        between = decays(ends - total[..., -1], ends, -1).to(y.dtype)
        before = torch.einsum("bhzc,bhcpn->bhzpn", between, states)
        across = (read[:, None] @ before.transpose(3, 4)) * total.exp()[..., None].to(y.dtype)
        y = within + across + self.skip[:, None, None, None] * y
        y = self.inner_norm(y.permute(0, 2, 3, 1, 4).flatten(3).flatten(1, 2) * F.silu(gate))
        return x + self.outward(y)


def get_inputs():
    return [torch.randn(1, 1024, WIDTH).to(DTYPE)]


def get_init_inputs():
    return []
