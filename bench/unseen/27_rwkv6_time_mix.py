########################################################################################################
# RWKV-6 "Finch" time mixing, chunked in plain torch
########################################################################################################
import torch
import torch.nn as nn
import torch.nn.functional as F

D_MIX_LORA = 32
D_DECAY_LORA = 64
CHUNK = 32


class Model(nn.Module):
    def __init__(self, n_embd, head_size, layer_id, n_layer):
        super().__init__()
        self.n_embd, self.head_size = n_embd, head_size
        self.n_head = n_embd // head_size
        with torch.no_grad():
            ratio_0_to_1 = layer_id / (n_layer - 1)
            ratio_1_to_almost0 = 1.0 - (layer_id / n_layer)
            ddd = torch.ones(1, 1, n_embd)
            for i in range(n_embd):
                ddd[0, 0, i] = i / n_embd
            self.time_maa_x = nn.Parameter(1.0 - torch.pow(ddd, ratio_1_to_almost0))
            self.time_maa_w = nn.Parameter(1.0 - torch.pow(ddd, ratio_1_to_almost0))
            self.time_maa_k = nn.Parameter(1.0 - torch.pow(ddd, ratio_1_to_almost0))
            self.time_maa_v = nn.Parameter(1.0 - (torch.pow(ddd, ratio_1_to_almost0) + 0.3 * ratio_0_to_1))
            self.time_maa_r = nn.Parameter(1.0 - torch.pow(ddd, 0.5 * ratio_1_to_almost0))
            self.time_maa_g = nn.Parameter(1.0 - torch.pow(ddd, 0.5 * ratio_1_to_almost0))
            self.time_maa_w1 = nn.Parameter(torch.randn(n_embd, D_MIX_LORA * 5) * 0.02)
            self.time_maa_w2 = nn.Parameter(torch.zeros(5, D_MIX_LORA, n_embd).uniform_(-0.01, 0.01))
            decay_speed = torch.ones(n_embd)
            for n in range(n_embd):
                decay_speed[n] = -6 + 5 * (n / (n_embd - 1)) ** (0.7 + 1.3 * ratio_0_to_1)
            self.time_decay = nn.Parameter(decay_speed.reshape(1, 1, n_embd))
            self.time_decay_w1 = nn.Parameter(torch.randn(n_embd, D_DECAY_LORA) * 0.02)
            self.time_decay_w2 = nn.Parameter(torch.zeros(D_DECAY_LORA, n_embd).uniform_(-0.01, 0.01))
            tmp = torch.zeros(n_embd)
            for n in range(n_embd):
                zigzag = ((n + 1) % 3 - 1) * 0.1
                tmp[n] = ratio_0_to_1 * (1 - (n / (n_embd - 1))) + zigzag
            self.time_faaaa = nn.Parameter(tmp.reshape(self.n_head, self.head_size))
        self.time_shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.receptance = nn.Linear(n_embd, n_embd, bias=False)
        self.key = nn.Linear(n_embd, n_embd, bias=False)
        self.value = nn.Linear(n_embd, n_embd, bias=False)
        self.output = nn.Linear(n_embd, n_embd, bias=False)
        self.gate = nn.Linear(n_embd, n_embd, bias=False)
        self.ln_x = nn.GroupNorm(self.n_head, n_embd, eps=(1e-5) * (8 ** 2))
        self.bfloat16()

    def jit_func(self, x):
        B, T, C = x.size()
        xx = self.time_shift(x) - x
        xxx = x + xx * self.time_maa_x
        xxx = torch.tanh(xxx @ self.time_maa_w1).view(B * T, 5, -1).transpose(0, 1)
        xxx = torch.bmm(xxx, self.time_maa_w2).view(5, B, T, -1)
        mw, mk, mv, mr, mg = xxx.unbind(dim=0)
        xw = x + xx * (self.time_maa_w + mw)
        xk = x + xx * (self.time_maa_k + mk)
        xv = x + xx * (self.time_maa_v + mv)
        xr = x + xx * (self.time_maa_r + mr)
        xg = x + xx * (self.time_maa_g + mg)
        r = self.receptance(xr)
        k = self.key(xk)
        v = self.value(xv)
        g = F.silu(self.gate(xg))
        ww = torch.tanh(xw @ self.time_decay_w1) @ self.time_decay_w2
        w = self.time_decay + ww
        return r, k, v, g, w

    def wkv6(self, r, k, v, w, u):
        B, T, C = r.shape
        H, N, L = self.n_head, self.head_size, CHUNK
        r, k, v, w = (i.float().view(B, T // L, L, H, N).permute(1, 0, 3, 2, 4) for i in (r, k, v, w))
        logw = -torch.exp(w)
        cum = logw.cumsum(dim=-2)
        prev = cum - logw
        total = cum[..., -1:, :]
        rr = r * prev.exp()
        att = torch.tril(rr @ (k * (-cum).exp()).mT, diagonal=-1)
        diag = torch.einsum("cbhin,hn,cbhin->cbhi", r, u.float(), k)
        att = att + torch.diag_embed(diag)
        out = att @ v
        kv = (k * (total - cum).exp()).mT @ v
        dec = total.exp().mT
        s = torch.zeros(B, H, N, N, dtype=torch.float32, device=r.device)
        ys = []
        for c in range(T // L):
            ys.append(out[c] + rr[c] @ s)
            s = s * dec[c] + kv[c]
        y = torch.stack(ys, dim=1)  # B c H L N
        return y.permute(0, 1, 3, 2, 4).reshape(B, T, C)

    def forward(self, x):
        B, T, C = x.size()
        r, k, v, g, w = self.jit_func(x)
        y = self.wkv6(r, k, v, w, self.time_faaaa).to(x.dtype)
        y = self.ln_x(y.view(B * T, C)).view(B, T, C)
        return self.output(y * g)


def get_inputs():
    return [torch.randn(8, 512, 512, dtype=torch.bfloat16)]


def get_init_inputs():
    return [512, 64, 4, 12]
