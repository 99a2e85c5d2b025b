import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Stick-breaking attention: sigmoid breaks, a reversed exclusive cumprod of what is left, remainder to self."""

    def __init__(self, n_heads, d_head):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_head
        d = n_heads * d_head
        self.to_qkv = nn.Linear(d, 3 * d, bias=False)
        self.to_out = nn.Linear(d, d, bias=False)
        self.head_bias = nn.Parameter(torch.linspace(-3.0, 0.0, n_heads).view(1, n_heads, 1, 1))
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.reshape(b, t, self.n_heads, self.d_head).transpose(1, 2)
                   for y in torch.tensor_split(self.to_qkv(x), 3, dim=-1))
        logits = torch.einsum("...id, ...jd -> ...ij", q, k) * self.d_head ** -0.5 + self.head_bias
        i = torch.arange(t, device=x.device)
        visible = i.unsqueeze(1) > i.unsqueeze(0)
        beta = torch.sigmoid(logits)
        left = torch.where(visible, 1.0 - beta, torch.ones((), device=x.device, dtype=x.dtype))
        rev = left.flip(-1).cumprod(dim=-1).flip(-1)
        exclusive = F.pad(rev[..., 1:], (0, 1), value=1.0)
        att = torch.where(visible, beta * exclusive, torch.zeros_like(beta))
        rem = rev[..., :1]
        out = att @ v + rem * v
        return self.to_out(out.transpose(1, 2).flatten(-2)), rem.squeeze(-1)


batch_size = 2
seq_len = 1024
n_heads = 16
d_head = 64


def get_inputs():
    return [torch.randn(batch_size, seq_len, n_heads * d_head)]


def get_init_inputs():
    return [n_heads, d_head]
