"""More cases for the window families: shapes that their guesses were not fitted to, to see how good a first guess is.

measure.py takes it with --cases window_guess_cases. Shapes are typical of networks; they are not
from tasks.
"""

from cases import case, convolution, leaf, node, pool, scan


def adaptive(shape, size):
    out = list(shape[:2]) + [size] * (len(shape) - 2)
    text = "x".join(map(str, shape))
    return case(f"adaptive_avg_pool_{text}_to{size}", f"F.adaptive_avg_pool{len(shape) - 2}d(x, {size})", "pool",
                [leaf("x", shape)], [node("pool", "adaptive_avg_pool", ["x"], out, size=[size] * (len(shape) - 2))])


CASES = [
    scan([512, 16384], 1), scan([64, 100000], 1), scan([32768, 1024], 1), scan([8, 2048, 512], 1), scan([2, 65536, 32], 1),
    pool("max_pool", [32, 128, 56, 56], 3, 1, 1), pool("max_pool", [16, 96, 112, 112], 2, 2),
    pool("avg_pool", [32, 256, 28, 28], 3, 1, 1), pool("max_pool", [8, 32, 32, 64, 64], 2, 2),
    pool("avg_pool", [4, 32, 32, 64, 64], 3, 1, 1), pool("avg_pool", [32, 256, 8192], 4, 4),
    adaptive([64, 1280, 7, 7], 1), adaptive([32, 512, 14, 14], 7), adaptive([16, 64, 112, 112], 1),
    convolution([32, 96, 112, 112], 96, 3, 2, 1, groups=96), convolution([64, 240, 28, 28], 240, 5, 1, 2, groups=240),
    convolution([32, 64, 56, 56], 64, 3, 1, 1, groups=64), convolution([32, 128, 56, 56], 128, 7, 1, 3, groups=128),
    convolution([64, 672, 16, 16], 672, 5, 1, 2, groups=672),
    convolution([32, 3, 224, 224], 64, 3, 1, 1), convolution([64, 32, 56, 56], 32, 3, 1, 1),
    convolution([8, 128, 28, 28], 128, 3, 1, 1), convolution([32, 256, 28, 28], 512, 1),
    convolution([4, 16, 32, 32, 32], 32, 3, 1, 1), convolution([16, 48, 128, 128], 96, 5, 1, 2),
    convolution([1, 64, 256, 256], 64, 3, 1, 1), convolution([32, 64, 1024], 128, 5, 1, 4, 2),
    convolution([16, 64, 56, 56], 128, 3, 1, 1, groups=8), convolution([128, 1, 28, 28], 32, 3),
    convolution([16, 64, 32, 32], 32, 4, 2, 1, transposed=True), convolution([8, 128, 16, 16], 64, 4, 2, 1, transposed=True),
    convolution([8, 16, 16, 16, 16], 32, 4, 2, 1, transposed=True), convolution([16, 64, 64, 64], 64, 3, 1, 1, transposed=True),
    convolution([8, 48, 64, 64], 3, 4, 2, 1, transposed=True), convolution([16, 64, 256], 32, 5, 3, transposed=True),
]
