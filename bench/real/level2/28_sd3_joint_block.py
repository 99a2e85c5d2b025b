"""A block of Stable Diffusion 3, where 32 by 32 places of an image and 333 tokens of text attend together, with and without the text."""
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.float32
WIDTH, HEADS = 1536, 24


class Stream(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = (nn.LayerNorm(WIDTH, elementwise_affine=False, eps=1e-6) for _ in range(2))
        self.parts, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.modulation = nn.Linear(WIDTH, 6 * WIDTH)

    def before(self, x, condition):
        shift, scale, *rest = self.modulation(F.silu(condition))[:, None].chunk(6, -1)
        parts = self.parts(self.norm1(x) * (1 + scale) + shift).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        return parts, rest

    def after(self, x, attended, rest):
        gate1, shift, scale, gate2 = rest
        x = x + gate1 * self.out(attended)
        y = self.norm2(x) * (1 + scale) + shift
        return x + gate2 * self.down(F.gelu(self.up(y), approximate="tanh"))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = Stream(), Stream()
        self.to(DTYPE)

    def forward(self, image, text, condition):
        parts, of_image = self.image.before(image, condition)
        others, of_text = self.text.before(text, condition)
        query, key, value = torch.cat([parts, others], 3)
        attended = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        of_places, of_words = attended.split([image.shape[1], text.shape[1]], 1)
        return self.image.after(image, of_places, of_image), self.text.after(text, of_words, of_text)


def get_inputs():
    return [torch.randn(shape).to(DTYPE) for shape in ((2, 1024, WIDTH), (2, 333, WIDTH), (2, WIDTH))]


def get_init_inputs():
    return []
