import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 16
CHANNELS = 128
FRAMES = 1024
STRIDE = 5
KERNEL = 11
DTYPE = torch.float16

LRELU_SLOPE = 0.1


def get_padding(kernel_size, dilation=1):
    return (kernel_size * dilation - dilation) // 2


class ResBlock(nn.Module):
    def __init__(self, channels, kernel_size, dilations, dtype):
        super().__init__()
        self.convs1 = nn.ModuleList(
            nn.Conv1d(channels, channels, kernel_size, dilation=d, padding=get_padding(kernel_size, d), dtype=dtype)
            for d in dilations
        )
        self.convs2 = nn.ModuleList(
            nn.Conv1d(channels, channels, kernel_size, padding=get_padding(kernel_size), dtype=dtype)
            for _ in dilations
        )

    def forward(self, x):
        for c1, c2 in zip(self.convs1, self.convs2):
            xt = F.leaky_relu(x, LRELU_SLOPE)
            xt = c1(xt)
            xt = F.leaky_relu(xt, LRELU_SLOPE)
            xt = c2(xt)
            x = xt + x
        return x


class Model(nn.Module):
    """HiFi-GAN generator stage: transposed conv with output_padding, then multi receptive field fusion."""

    def __init__(self, channels, stride, kernel, dtype):
        super().__init__()
        self.up = nn.ConvTranspose1d(
            channels, channels // 2, kernel, stride=stride, padding=(kernel - stride) // 2 + 1, output_padding=2, dtype=dtype
        )
        self.resblocks = nn.ModuleList(
            ResBlock(channels // 2, k, d, dtype) for k, d in [(3, (1, 3, 5)), (7, (1, 3)), (11, (1,))]
        )
        self.post = nn.Conv1d(channels // 2, 1, 7, padding=3, dtype=dtype)

    def forward(self, x):
        x = self.up(F.leaky_relu(x, LRELU_SLOPE))
        xs = None
        for block in self.resblocks:
            xs = block(x) if xs is None else xs + block(x)
        x = xs / len(self.resblocks)
        return torch.tanh(self.post(F.leaky_relu(x)))


def get_inputs():
    return [torch.randn(BATCH, CHANNELS, FRAMES, dtype=DTYPE)]


def get_init_inputs():
    return [CHANNELS, STRIDE, KERNEL, DTYPE]
