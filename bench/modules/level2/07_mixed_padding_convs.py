import torch
import torch.nn as nn
import torch.nn.functional as F

batch = 16
channels = 32
out_channels = 64
groups = 4
height = 180
width = 360


class Model(nn.Module):
    """Lat/lon weather-grid stem: several padding rules side by side.

    circular in longitude, replicate in latitude, reflect for the local branch,
    asymmetric zero padding ("same" with stride 2, as TensorFlow pads) for the downsampling branch.
    """

    def __init__(self, cin, cout, groups):
        super().__init__()
        self.globe = nn.Conv2d(cin, cout, kernel_size=(3, 5))
        self.circ = nn.Conv2d(cin, cout, 3, padding=2, dilation=2, groups=groups, padding_mode="circular")
        self.refl = nn.Conv2d(cin, cout, (1, 7), padding=(0, 3), padding_mode="reflect", bias=False)
        self.repl = nn.Conv2d(cin, cout, (7, 1), padding=(3, 0), padding_mode="replicate", bias=False)
        self.zero_pad = nn.ZeroPad2d((0, 1, 0, 1))
        self.down = nn.Conv2d(cout, cout, 4, stride=2, padding=(1, 1), groups=groups)

    def forward(self, x):
        g = F.pad(x, (2, 2, 0, 0), mode="circular")
        g = F.pad(g, (0, 0, 1, 1), mode="replicate")
        g = self.globe(g)
        y = F.silu(g + self.circ(x)) + torch.tanh(self.refl(x)) * torch.sigmoid(self.repl(x))
        return self.down(self.zero_pad(y))


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, out_channels, groups]
