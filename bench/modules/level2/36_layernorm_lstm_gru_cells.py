import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2048
STEPS = 8
INPUT = 256
HIDDEN = 256


class LayerNormLSTMCell(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.x2h = nn.Linear(input_size, 4 * hidden_size, bias=False)
        self.h2h = nn.Linear(hidden_size, 4 * hidden_size)
        self.ln_x = nn.LayerNorm(4 * hidden_size)
        self.ln_h = nn.LayerNorm(4 * hidden_size)
        self.ln_c = nn.LayerNorm(hidden_size)

    def forward(self, x, state):
        h, c = state
        gates = self.ln_x(self.x2h(x)) + self.ln_h(self.h2h(h))
        i, f, g, o = gates.chunk(4, dim=1)
        c = torch.sigmoid(f + 1.0) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(self.ln_c(c))
        return h, c


class Model(nn.Module):
    """Hand-written layer-norm LSTM followed by a hand-written GRU, unrolled over a short sequence."""

    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.lstm = LayerNormLSTMCell(input_size, hidden_size)
        self.w_ih = nn.Parameter(torch.randn(3 * hidden_size, hidden_size) / hidden_size ** 0.5)
        self.w_hh = nn.Parameter(torch.randn(3 * hidden_size, hidden_size) / hidden_size ** 0.5)
        self.b_ih = nn.Parameter(torch.zeros(3 * hidden_size))
        self.b_hh = nn.Parameter(0.1 * torch.randn(3 * hidden_size))

    def gru(self, x, h):
        gi = F.linear(x, self.w_ih, self.b_ih)
        gh = F.linear(h, self.w_hh, self.b_hh)
        i_r, i_z, i_n = gi.chunk(3, 1)
        h_r, h_z, h_n = gh.chunk(3, 1)
        r = torch.sigmoid(i_r + h_r)
        z = torch.sigmoid(i_z + h_z)
        n = torch.tanh(i_n + r * h_n)
        return n + z * (h - n)

    def forward(self, x, lengths):
        b, t, _ = x.shape
        h = x.new_zeros(b, self.hidden_size)
        c = x.new_zeros(b, self.hidden_size)
        g = x.new_zeros(b, self.hidden_size)
        outs = []
        for step in range(t):
            alive = (step < lengths).unsqueeze(1)
            nh, nc = self.lstm(x[:, step], (h, c))
            h = torch.where(alive, nh, h)
            c = torch.where(alive, nc, c)
            g = torch.where(alive, self.gru(h, g), g)
            outs.append(g.masked_fill(~alive, 0.0))
        return torch.stack(outs, dim=1), (h, c)


def get_inputs():
    return [torch.randn(BATCH, STEPS, INPUT), torch.randint(1, STEPS + 1, (BATCH,))]


def get_init_inputs():
    return [INPUT, HIDDEN]
