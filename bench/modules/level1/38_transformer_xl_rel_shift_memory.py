import torch
import torch.nn as nn
import torch.nn.functional as F


class PositionalEmbedding(nn.Module):
    def __init__(self, demb):
        super().__init__()
        inv_freq = 1 / (10000 ** (torch.arange(0.0, demb, 2.0) / demb))
        self.register_buffer("inv_freq", inv_freq)
        self.demb = demb

    def forward(self, pos_seq):
        sinusoid_inp = torch.outer(pos_seq, self.inv_freq)
        pos_emb = torch.cat([sinusoid_inp.sin(), sinusoid_inp.cos()], dim=-1)[:, : self.demb]
        return pos_emb[:, None, :]


class Model(nn.Module):
    """Transformer-XL attention (time-major) with segment memory and the pad-and-view relative shift.
    Its input is a transposed view on purpose."""

    def __init__(self, n_head, d_model, d_head):
        super().__init__()
        self.n_head, self.d_model, self.d_head = n_head, d_model, d_head
        self.qkv_net = nn.Linear(d_model, 3 * n_head * d_head, bias=False)
        self.r_net = nn.Linear(d_model, n_head * d_head, bias=False)
        self.o_net = nn.Linear(n_head * d_head, d_model, bias=False)
        self.layer_norm = nn.LayerNorm(d_model)
        self.r_w_bias = nn.Parameter(torch.randn(n_head, d_head) * 0.1)
        self.r_r_bias = nn.Parameter(torch.randn(n_head, d_head) * 0.1)
        self.pos_emb = PositionalEmbedding(d_model)
        self.scale = 1 / (d_head ** 0.5)
        self.apply(self._init_weights)

    @staticmethod
    def _init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, std=1.5 * m.in_features ** -0.5)

    def _rel_shift(self, x):
        zero_pad = torch.zeros((x.size(0), 1, *x.size()[2:]), device=x.device, dtype=x.dtype)
        x_padded = torch.cat([zero_pad, x], dim=1)
        x_padded = x_padded.view(x.size(1) + 1, x.size(0), *x.size()[2:])
        return x_padded[1:].view_as(x)

    def forward(self, w, mems):
        qlen, bsz = w.size(0), w.size(1)
        cat = torch.cat([mems, w], 0)
        klen = cat.size(0)
        pos_seq = torch.arange(klen - 1, -1, -1.0, device=w.device, dtype=w.dtype)
        r_head_k = self.r_net(self.pos_emb(pos_seq)).view(klen, self.n_head, self.d_head)

        w_heads = self.qkv_net(cat)
        w_head_q, w_head_k, w_head_v = torch.chunk(w_heads, 3, dim=-1)
        w_head_q = w_head_q[-qlen:].view(qlen, bsz, self.n_head, self.d_head)
        w_head_k = w_head_k.view(klen, bsz, self.n_head, self.d_head)
        w_head_v = w_head_v.view(klen, bsz, self.n_head, self.d_head)

        AC = torch.einsum("ibnd,jbnd->ijbn", (w_head_q + self.r_w_bias, w_head_k))
        BD = torch.einsum("ibnd,jnd->ijbn", (w_head_q + self.r_r_bias, r_head_k))
        BD = self._rel_shift(BD)
        attn_score = (AC + BD).mul_(self.scale)
        dec_attn_mask = torch.triu(w.new_ones(qlen, klen), diagonal=1 + mems.size(0)).bool()[:, :, None]
        attn_score = attn_score.float().masked_fill(dec_attn_mask[:, :, :, None], -float("inf")).type_as(attn_score)
        attn_prob = F.softmax(attn_score, dim=1)
        attn_vec = torch.einsum("ijbn,jbnd->ibnd", (attn_prob, w_head_v))
        attn_vec = attn_vec.contiguous().view(qlen, bsz, self.n_head * self.d_head)
        out = self.layer_norm(w + self.o_net(attn_vec))
        new_mems = cat[-mems.size(0):].detach()
        return out, new_mems


QLEN = 512
MLEN = 512
BSZ = 4
N_HEAD = 16
D_HEAD = 64
D_MODEL = 1024


def get_inputs():
    # batch-first storage seen time-major: non-contiguous inputs
    return [torch.randn(BSZ, QLEN, D_MODEL).transpose(0, 1), torch.randn(BSZ, MLEN, D_MODEL).transpose(0, 1)]


def get_init_inputs():
    return [N_HEAD, D_MODEL, D_HEAD]
