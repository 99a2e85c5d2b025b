import torch
import torch.nn as nn

batch_size = 64
in_channels = 116
out_channels = 232
image_h = 56
image_w = 56


def channel_shuffle(x, groups):
    b, c, h, w = x.size()
    x = x.view(b, groups, c // groups, h, w)
    x = torch.transpose(x, 1, 2).contiguous()
    return x.view(b, -1, h, w)


def _bn(c):
    bn = nn.BatchNorm2d(c)
    # pretend these came from a checkpoint
    nn.init.uniform_(bn.weight, 0.5, 1.5)
    nn.init.normal_(bn.bias, std=0.2)
    bn.running_mean.normal_(std=0.2)
    bn.running_var.uniform_(0.3, 1.2)
    return bn


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride):
        super().__init__()
        self.stride = stride
        branch = oup // 2
        if stride > 1:
            self.branch1 = nn.Sequential(
                nn.Conv2d(inp, inp, 3, stride, 1, groups=inp, bias=False), _bn(inp),
                nn.Conv2d(inp, branch, 1, bias=False), _bn(branch), nn.ReLU(inplace=True),
            )
        else:
            self.branch1 = nn.Sequential()
        self.branch2 = nn.Sequential(
            nn.Conv2d(inp if stride > 1 else branch, branch, 1, bias=False), _bn(branch), nn.ReLU(inplace=True),
            nn.Conv2d(branch, branch, 3, stride, 1, groups=branch, bias=False), _bn(branch),
            nn.Conv2d(branch, branch, 1, bias=False), _bn(branch), nn.ReLU(inplace=True),
        )

    def forward(self, x):
        if self.stride == 1:
            x1, x2 = x.chunk(2, dim=1)
            out = torch.cat((x1, self.branch2(x2)), dim=1)
        else:
            out = torch.cat((self.branch1(x), self.branch2(x)), dim=1)
        return channel_shuffle(out, 2)


class Model(nn.Module):
    """ShuffleNetV2 stage: one stride-2 unit and two stride-1 units, inference-mode batch norm."""

    def __init__(self, inp, oup):
        super().__init__()
        self.stage = nn.Sequential(
            InvertedResidual(inp, oup, 2),
            InvertedResidual(oup, oup, 1),
            InvertedResidual(oup, oup, 1),
        )
        self.eval()

    def forward(self, x):
        return self.stage(x)


def get_inputs():
    return [torch.rand(batch_size, in_channels, image_h, image_w)]


def get_init_inputs():
    return [in_channels, out_channels]
