import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class HaarDWT(nn.Module):
    def __init__(self):
        super().__init__()
        l = torch.tensor([1.0, 1.0]) / math.sqrt(2)
        h = torch.tensor([1.0, -1.0]) / math.sqrt(2)
        filt = torch.stack([torch.outer(a, b) for a in (l, h) for b in (l, h)])
        self.register_buffer("filt", filt[:, None])

    def forward(self, x):
        n, c, h, w = x.shape
        y = F.conv2d(x.reshape(n * c, 1, h, w), self.filt, stride=2)
        return y.view(n, c, 4, h // 2, w // 2)


def iwt_init(x):
    # slicing form (MWCNN)
    r = 2
    in_batch, in_channel, in_height, in_width = x.size()
    out_channel, out_height, out_width = in_channel // (r ** 2), r * in_height, r * in_width
    x1 = x[:, 0:out_channel] / 2
    x2 = x[:, out_channel:out_channel * 2] / 2
    x3 = x[:, out_channel * 2:out_channel * 3] / 2
    x4 = x[:, out_channel * 3:out_channel * 4] / 2
    h = torch.zeros([in_batch, out_channel, out_height, out_width], dtype=x.dtype, device=x.device)
    h[:, :, 0::2, 0::2] = x1 + x2 + x3 + x4
    h[:, :, 0::2, 1::2] = x1 - x2 + x3 - x4
    h[:, :, 1::2, 0::2] = x1 + x2 - x3 - x4
    h[:, :, 1::2, 1::2] = x1 - x2 - x3 + x4
    return h


class LayerNorm2d(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.eps = eps

    def forward(self, x):
        mu = x.mean(1, keepdim=True)
        var = (x - mu).pow(2).mean(1, keepdim=True)
        y = (x - mu) / (var + self.eps).sqrt()
        return self.weight.view(1, -1, 1, 1) * y + self.bias.view(1, -1, 1, 1)


class SimpleGate(nn.Module):
    def forward(self, x):
        x1, x2 = x.chunk(2, dim=1)
        return x1 * x2


class NAFBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        dw = c * 2
        self.conv1 = nn.Conv2d(c, dw, 1)
        self.conv2 = nn.Conv2d(dw, dw, 3, padding=1, groups=dw)
        self.conv3 = nn.Conv2d(dw // 2, c, 1)
        self.sca = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(dw // 2, dw // 2, 1))
        self.sg = SimpleGate()
        self.conv4 = nn.Conv2d(c, c * 2, 1)
        self.conv5 = nn.Conv2d(c, c, 1)
        self.norm1 = LayerNorm2d(c)
        self.norm2 = LayerNorm2d(c)
        self.beta = nn.Parameter(torch.full((1, c, 1, 1), 0.2))
        self.gamma = nn.Parameter(torch.full((1, c, 1, 1), 0.2))

    def forward(self, inp):
        x = self.sg(self.conv2(self.conv1(self.norm1(inp))))
        x = x * self.sca(x)
        y = inp + self.conv3(x) * self.beta
        x = self.conv5(self.sg(self.conv4(self.norm2(y))))
        return y + x * self.gamma


class ECALayer(nn.Module):
    def __init__(self, k_size=3):
        super().__init__()
        self.conv = nn.Conv1d(1, 1, kernel_size=k_size, padding=(k_size - 1) // 2, bias=False)

    def forward(self, x):
        y = F.adaptive_avg_pool2d(x, 1)
        y = self.conv(y.squeeze(-1).transpose(-1, -2)).transpose(-1, -2).unsqueeze(-1)
        return x * torch.sigmoid(y).expand_as(x)


class CoordAtt(nn.Module):
    def __init__(self, inp, groups=8):
        super().__init__()
        mip = max(8, inp // groups)
        self.conv1 = nn.Conv2d(inp, mip, 1)
        self.bn1 = nn.BatchNorm2d(mip)
        self.conv2 = nn.Conv2d(mip, inp, 1)
        self.conv3 = nn.Conv2d(mip, inp, 1)
        self.relu = nn.Hardswish()

    def forward(self, x):
        n, c, h, w = x.size()
        x_h = x.mean(dim=3, keepdim=True)
        x_w = x.mean(dim=2, keepdim=True).permute(0, 1, 3, 2)
        y = self.relu(self.bn1(self.conv1(torch.cat([x_h, x_w], dim=2))))
        x_h, x_w = torch.split(y, [h, w], dim=2)
        x_w = x_w.permute(0, 1, 3, 2)
        return x * self.conv2(x_h).sigmoid() * self.conv3(x_w).sigmoid()


class Model(nn.Module):
    """x2 super resolution in the wavelet domain: sub-band soft shrinkage, NAF block, pixel shuffle, bicubic skip, back-projection."""

    def __init__(self, feats, scale):
        super().__init__()
        self.scale = scale
        self.dwt = HaarDWT()
        self.head = nn.Conv2d(12, feats, 3, padding=1)
        self.body = NAFBlock(feats)
        self.eca = ECALayer()
        self.ca = CoordAtt(feats)
        self.tail = nn.Conv2d(feats, 3 * 4 * scale ** 2, 3, padding=1)
        self.thresh = nn.Parameter(torch.full((1, 1, 3, 1, 1), 0.05))
        self.register_buffer("mean", torch.tensor([0.4488, 0.4371, 0.4040]).view(1, 3, 1, 1))

    def forward(self, lr):
        base = F.interpolate(lr, scale_factor=self.scale, mode="bicubic", align_corners=False)
        x = lr - self.mean
        bands = self.dwt(x)
        ll, hi = bands.split([1, 3], dim=2)
        hi = torch.sign(hi) * F.relu(hi.abs() - self.thresh)
        # band-major channels, as the inverse wants them
        x = torch.cat([ll, hi], dim=2).transpose(1, 2).flatten(1, 2)
        f = self.head(x)
        f = f + self.ca(self.eca(self.body(f)))
        y = F.pixel_shuffle(self.tail(f), self.scale)
        y = iwt_init(y)
        sr = base + y
        # one step of iterative back-projection
        err = lr - F.avg_pool2d(sr, self.scale)
        sr = sr + F.interpolate(err, scale_factor=self.scale, mode="nearest")
        return sr.clamp_(0.0, 1.0)


def get_inputs():
    return [torch.rand(4, 3, 256, 256)]


def get_init_inputs():
    return [32, 2]
