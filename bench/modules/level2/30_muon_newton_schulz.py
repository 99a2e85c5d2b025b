import torch
import torch.nn as nn

LAYERS = 8
ROWS = 1024
COLS = 768
STEPS = 5
MOMENTUM = 0.95
LR = 0.02
DTYPE = torch.bfloat16


class Model(nn.Module):
    """Muon update for a stack of weight matrices: Nesterov momentum, cubic Newton-Schulz, decoupled decay."""

    def __init__(self, steps, momentum, lr, weight_decay=0.1):
        super().__init__()
        self.steps = steps
        self.momentum = momentum
        self.lr = lr
        self.weight_decay = weight_decay

    def orthogonalize(self, g):
        x = g
        transposed = g.size(-2) > g.size(-1)
        if transposed:
            x = x.mT
        x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
        for _ in range(self.steps):
            A = x @ x.mT
            x = 1.5 * x - 0.5 * (A @ x)
        if transposed:
            x = x.mT
        return x

    def forward(self, weight, grad, buf):
        buf = torch.lerp(buf, grad, 1 - self.momentum)
        update = torch.lerp(grad, buf, self.momentum)
        update = self.orthogonalize(update)
        update = update * max(1, weight.size(-2) / weight.size(-1)) ** 0.5
        new_weight = weight * (1 - self.lr * self.weight_decay) - self.lr * update
        return new_weight, update, buf


def get_inputs():
    return [
        0.02 * torch.randn(LAYERS, ROWS, COLS, dtype=DTYPE),
        torch.randn(LAYERS, ROWS, COLS, dtype=DTYPE),
        torch.randn(LAYERS, ROWS, COLS, dtype=DTYPE),
    ]


def get_init_inputs():
    return [STEPS, MOMENTUM, LR]
