import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """One AdamW/AMSGrad step, written with in-place ops on clones of the inputs (inputs stay untouched)."""

    def __init__(self, lr=0.3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.1):
        super().__init__()
        self.lr, self.beta1, self.beta2 = lr, beta1, beta2
        self.eps, self.weight_decay = eps, weight_decay

    def forward(self, param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, step):
        param = param.clone()
        exp_avg = exp_avg.clone()
        exp_avg_sq = exp_avg_sq.clone()
        max_exp_avg_sq = max_exp_avg_sq.clone()
        step = step + 1

        param.mul_(1 - self.lr * self.weight_decay)
        exp_avg.lerp_(grad, 1 - self.beta1)
        exp_avg_sq.mul_(self.beta2).addcmul_(grad, grad.conj(), value=1 - self.beta2)

        bias_correction1 = 1 - self.beta1 ** step
        bias_correction2 = 1 - self.beta2 ** step
        step_size = self.lr / bias_correction1

        torch.maximum(max_exp_avg_sq, exp_avg_sq, out=max_exp_avg_sq)
        denom = (max_exp_avg_sq.sqrt() / bias_correction2.sqrt()).add_(self.eps)
        param.sub_(step_size * (exp_avg / denom))
        return param, exp_avg, exp_avg_sq, max_exp_avg_sq, step


ROWS = 8192
COLS = 2048


def get_inputs():
    return [
        torch.randn(ROWS, COLS),
        torch.randn(ROWS, COLS),
        torch.randn(ROWS, COLS) * 0.1,
        torch.rand(ROWS, COLS) + 0.01,
        torch.rand(ROWS, COLS) + 0.01,
        torch.randint(1, 1000, (1,)),
    ]


def get_init_inputs():
    return []
