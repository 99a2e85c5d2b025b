"""One functional step of several optimizers, each over its own tensors; the states go in and come out."""
import math

import torch
import torch.nn as nn


def lion_step(p, g, m, lr, beta1, beta2, wd):
    p = p * (1 - lr * wd)
    update = m.clone().mul_(beta1).add(g, alpha=1 - beta1).sign_()
    p = p.add(update, alpha=-lr)
    m = m.lerp(g, 1 - beta2)
    return p, m


def _rms(t):
    return t.norm(2) / (t.numel() ** 0.5)


def adafactor_step(p, g, row, col, step, lr, eps=(1e-30, 1e-3), clip=1.0, decay_rate=-0.8):
    beta2t = 1.0 - math.pow(step, decay_rate)
    update = g ** 2 + eps[0]
    row = row.mul(beta2t).add(update.mean(dim=-1), alpha=1.0 - beta2t)
    col = col.mul(beta2t).add(update.mean(dim=-2), alpha=1.0 - beta2t)
    r_factor = (row / row.mean(dim=-1, keepdim=True)).rsqrt_().unsqueeze(-1)
    c_factor = col.unsqueeze(-2).rsqrt()
    update = torch.mul(r_factor, c_factor) * g
    update.div_((_rms(update) / clip).clamp_(min=1.0))
    param_scale = torch.clamp(_rms(p), min=eps[1])
    return p - update * (lr * param_scale), row, col


def lamb_step(p, g, m, v, step, lr, betas, eps, wd, max_grad_norm=1.0):
    gnorm = g.norm()
    g = g / torch.where(gnorm > max_grad_norm, gnorm / max_grad_norm, torch.ones_like(gnorm))
    m = m.mul(betas[0]).add(g, alpha=1 - betas[0])
    v = v.mul(betas[1]).addcmul(g, g, value=1 - betas[1])
    bc1, bc2 = 1 - betas[0] ** step, 1 - betas[1] ** step
    update = (m / bc1).div_((v.sqrt() / math.sqrt(bc2)).add_(eps))
    update.add_(p, alpha=wd)
    w_norm, u_norm = p.norm(2.0), update.norm(2.0)
    one = torch.tensor(1.0, device=p.device)
    trust = torch.where(w_norm > 0, torch.where(u_norm > 0, w_norm / u_norm, one), one)
    return p - update * trust.clamp(max=10.0) * lr, m, v


def ademamix_step(p, g, fast, slow, v, step, lr, betas, alpha_final, t_alpha, eps, wd):
    b1, b2, b3_final = betas
    alpha = min(step * alpha_final / t_alpha, alpha_final)
    s = step / t_alpha
    b3 = min(math.exp((math.log(b1) * math.log(b3_final)) / ((1 - s) * math.log(b3_final) + s * math.log(b1))), b3_final)
    fast = fast * b1 + g * (1 - b1)
    slow = slow * b3 + g * (1 - b3)
    v = torch.addcmul(v * b2, g, g, value=1 - b2)
    denom = (v.sqrt() / math.sqrt(1 - b2 ** step)).add_(eps)
    update = (fast.div(1 - b1 ** step) + alpha * slow) / denom
    update = update + wd * p
    return p - lr * update, fast, slow, v


def sophia_step(p, g, m, hess, lr, beta1, rho, bs, wd):
    p = p.mul(1 - lr * wd)
    m = m.mul(beta1).add(g, alpha=1 - beta1)
    ratio = (m.abs() / (rho * bs * hess + 1e-15)).clamp(None, 1)
    return torch.addcmul(p, m.sign(), ratio, value=-lr), m


class Model(nn.Module):
    def __init__(self, step, lr, wd):
        super().__init__()
        self.step, self.lr, self.wd = step, lr, wd

    def forward(self, emb, emb_g, emb_row, emb_col, w, w_g, w_m, w_v, q, q_g, q_fast, q_slow, q_v, up, up_g, up_m,
                dn, dn_g, dn_m, dn_h, bias, bias_g, bias_sq, bias_buf):
        s, lr, wd = self.step, self.lr, self.wd
        out = []
        out += adafactor_step(emb, emb_g, emb_row, emb_col, s, lr)
        out += lamb_step(w, w_g, w_m, w_v, s, lr, (0.9, 0.999), 1e-6, wd)
        out += ademamix_step(q, q_g, q_fast, q_slow, q_v, s, lr, (0.9, 0.999, 0.9999), 5.0, 1000, 1e-8, wd)
        out += lion_step(up, up_g, up_m, lr * 0.1, 0.9, 0.99, wd)
        out += sophia_step(dn, dn_g, dn_m, dn_h, lr, 0.965, 0.04, 480, wd)
        # centred RMSprop with momentum for the vectors
        bias_sq = bias_sq * 0.99 + 0.01 * bias_g.square()
        bias_buf = 0.9 * bias_buf + bias_g / (bias_sq.sqrt() + 1e-8)
        out += [bias - lr * bias_buf, bias_sq, bias_buf]
        return tuple(out)


def get_inputs():
    def n(*s, k=1.0):
        return torch.randn(*s) * k

    D, V, H = 512, 4096, 1536
    return [
        n(V, D, k=0.02), n(V, D, k=1e-3), torch.rand(V) * 1e-6, torch.rand(D) * 1e-6,
        n(D, D), n(D, D, k=0.01), n(D, D, k=0.01), torch.rand(D, D) * 1e-4,
        n(D, D), n(D, D, k=0.01), n(D, D, k=0.01), n(D, D, k=0.01), torch.rand(D, D) * 1e-4,
        n(H, D), n(H, D, k=0.01), n(H, D, k=0.01),
        n(D, H), n(D, H, k=0.01), n(D, H, k=0.01), torch.rand(D, H) * 1e-2,
        n(H), n(H, k=0.01), torch.rand(H) * 1e-4, n(H),
    ]


def get_init_inputs():
    return [100, 1e-3, 0.1]
