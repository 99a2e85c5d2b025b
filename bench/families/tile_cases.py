"""Convolutions on tensor cores: cases for the tile and the implicit-GEMM family side by side. Shapes are typical of networks; they are not from tasks."""

from cases import convolution

CASES = [
    convolution([64, 64, 60, 60], 128, 3, relu=True), convolution([96, 32, 18, 18], 64, 4, 2, 1, transposed=True),
    convolution([96, 8, 124, 124], 64, 3, relu=True), convolution([16, 32, 16, 30, 30], 64, 3, 2, 1, transposed=True, output_padding=1),
    convolution([96, 32, 18, 18], 16, 4, 2, 1, transposed=True), convolution([16, 64, 28, 28], 128, 3, 2, 1),
    convolution([16, 256, 14, 14], 256, 3, 1, 1), convolution([16, 16, 16, 30, 30], 32, 3, 2, 1, transposed=True),
    convolution([32, 8, 16, 60, 60], 32, 3), convolution([8, 32, 124, 252], 64, (3, 5), transposed=True),
    convolution([16, 32, 240, 240], 64, (5, 9), 1, (2, 4), (2, 3)), convolution([64, 64, 56, 56], 128, 1),
]
