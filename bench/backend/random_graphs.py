"""40 random graphs of pointwise operators, views and reductions over a few tensors, each from its number: odd sizes, broadcast operands,
strided inputs, parts that are joined, few channels, and statistics over rows, columns or
everything."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

COUNT, LEAST_MB, MOST_MB = 40, 4, 64

UNARY = {"exp": lambda x: torch.exp(-x.abs()), "sigmoid": torch.sigmoid, "silu": F.silu, "gelu": F.gelu, "tanh": torch.tanh,
         "sqrt": lambda x: torch.sqrt(x.abs() + 0.1), "log": lambda x: torch.log(x.abs() + 0.5), "clamp": lambda x: x.clamp(-1.5, 1.5),
         "softplus": F.softplus, "square": torch.square, "sin": torch.sin, "reciprocal": lambda x: 1 / (x.abs() + 0.5),
         "relu": F.relu}
BINARY = {"add": torch.add, "mul": torch.mul, "sub": torch.sub, "div": lambda a, b: a / (b.abs() + 0.5), "maximum": torch.maximum,
          "where": lambda a, b: torch.where(a > 0, a, 0.1 * a * b), "lerp": lambda a, b: torch.lerp(a, b, 0.3), "atan2": lambda a, b: torch.atan2(a, b.abs() + 0.1)}
WHOLE = {"softmax": lambda x, dim: torch.softmax(x, dim), "norm": lambda x, dim: (x - x.mean(dim, keepdim=True)) *
         torch.rsqrt(x.var(dim, keepdim=True, correction=0) + 1e-5), "rms": lambda x, dim: x * torch.rsqrt(x.square().mean(dim, keepdim=True) + 1e-6),
         "share": lambda x, dim: x.abs() / (x.abs().sum(dim, keepdim=True) + 1), "less the largest": lambda x, dim: x - x.amax(dim, keepdim=True),
         "cumsum": lambda x, dim: x.cumsum(dim) / x.shape[dim]}
ENDS = {"none": lambda x: x, "sum": lambda x: x.sum(), "rows": lambda x: x.mean(-1), "columns": lambda x: x.sum(0),
        "loss": lambda x: (x.square().mean(), x.abs().amax(-1))}


def sizes(draw):
    """Three extents: rows, a middle dimension of often few channels, columns that need not divide by anything."""
    middle = draw.choice((1, 2, 3, 3, 4, 7, 12, 16, 64))
    columns = draw.choice((draw.randint(20, 4000), 2 ** draw.randint(5, 12), 2 ** draw.randint(5, 12) + draw.randint(-3, 3)))
    elements = draw.uniform(LEAST_MB, MOST_MB) * 2 ** 20 / 4
    return max(int(elements / (middle * columns)), 1), middle, columns


class RandomGraph(nn.Module):
    """@param number of the graph; equal numbers give equal graphs"""

    def __init__(self, number):
        super().__init__()
        draw = random.Random(number)
        self.shape, self.inputs, self.steps = sizes(draw), draw.randint(1, 3), []
        for _ in range(draw.randint(3, 9)):
            kind = draw.choices(("unary", "binary", "bias", "whole", "cat", "flip", "roll", "halves"), (8, 6, 3, 2, 1, 1, 1, 1))[0]
            table = {"unary": UNARY, "binary": BINARY, "whole": WHOLE}.get(kind, {"": None})
            self.steps.append((kind, draw.choice(sorted(table)), draw.randrange(100), draw.choice((0, 1, -1, -1))))
        self.end, self.is_turned = draw.choice(sorted(ENDS)), draw.random() < 0.2
        self.scale = nn.Parameter(1 + torch.arange(self.shape[2]).float() / self.shape[2])
        self.shift = nn.Parameter(torch.linspace(-1, 1, self.shape[1])[:, None])

    def forward(self, x, others):
        values = [x, *others]
        for kind, name, which, dim in self.steps:
            x, other = values[-1], values[which % len(values)]
            if kind == "unary":
                x = UNARY[name](x)
            elif kind == "binary":
                x = BINARY[name](x, other)
            elif kind == "bias":
                x = x * self.scale + self.shift
            elif kind == "whole":
                x = WHOLE[name](x, dim)
            elif kind == "cat":
                x = torch.cat((x, other), -1)[..., : x.shape[-1]] if which % 2 else torch.cat((x[..., 1:], other[..., :1]), -1)
            elif kind == "flip":
                x = x.flip(-1)
            elif kind == "roll":
                x = torch.roll(x, 1 + which % 5, -1)
            elif kind == "halves" and x.shape[-1] % 2 == 0:
                a, b = x.chunk(2, -1)
                x = torch.cat((a * torch.sigmoid(b), b - a), -1)
            values.append(x)
        return ENDS[self.end](values[-1])


def made(number):
    """@return (module, keyword arguments of a call)"""
    model = RandomGraph(number)
    torch.manual_seed(number)

    def tensor():
        if model.is_turned:
            return torch.randn(model.shape[2], model.shape[1], model.shape[0]).permute(2, 1, 0)
        return torch.randn(model.shape)

    return model, {"x": tensor(), "others": [tensor() for _ in range(model.inputs - 1)]}
