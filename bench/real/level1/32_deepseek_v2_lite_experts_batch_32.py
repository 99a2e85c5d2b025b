"""DeepSeek V2 Lite's shared experts and the 16 of 64 others that one of four GPUs holds, for 32 tokens."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32
WIDTH, WIDE, EXPERTS, HERE = 2048, 1408, 64, 16


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(HERE, WIDTH, 2 * WIDE) * WIDTH ** -0.5)
        self.down = nn.Parameter(torch.randn(HERE, WIDE, WIDTH) * WIDE ** -0.5)
        self.shared_up, self.shared_down = nn.Linear(WIDTH, 4 * WIDE, bias=False), nn.Linear(2 * WIDE, WIDTH, bias=False)
        self.to(DTYPE)

    def forward(self, x):
        scores = F.softmax(F.linear(x.float(), self.router.weight.float()), -1)
        weights, chosen = scores.topk(6, -1)
        weights = torch.zeros_like(scores).scatter(1, chosen, weights)[:, :HERE].to(x.dtype)
        gate, value = torch.matmul(x, self.up).chunk(2, -1)
        y = (torch.matmul(F.silu(gate) * value, self.down) * weights.t()[..., None]).sum(0)
        gate, value = self.shared_up(x).chunk(2, -1)
        return y + self.shared_down(F.silu(gate) * value)


def get_inputs():
    return [torch.randn(32, WIDTH).to(DTYPE)]


def get_init_inputs():
    return []
