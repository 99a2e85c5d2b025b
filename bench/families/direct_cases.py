"""Convolutions with short sums: cases for the direct and the implicit-GEMM family side by side. Shapes are typical of networks; they are not from tasks."""

from cases import convolution

CASES = [
    convolution([96, 3, 34, 34], 16, 3, relu=True), convolution([64, 3, 18, 34, 34], 16, 3, relu=True),
    convolution([96, 3, 34, 34], 16, 3, 2, 1, transposed=True, output_padding=1),
    convolution([64, 3, 16, 30, 30], 16, 3, 2, 1, transposed=True), convolution([96, 32, 18, 18], 16, 4, 2, 1, transposed=True),
    convolution([96, 32, 18, 18], 64, 4, 2, 1, transposed=True), convolution([16, 8, 16, 30, 30], 16, 3, 2, 1, transposed=True),
    convolution([16, 3, 60, 60, 60], 64, 3), convolution([16, 3, 240, 240], 64, (3, 5)), convolution([16, 3, 480], 64, 3),
    convolution([16, 32, 120], 64, 3, 2, 1, 2, transposed=True), convolution([96, 8, 124, 124], 64, 3, relu=True),
    convolution([16, 16, 16, 30, 30], 32, 3, 2, 1, transposed=True), convolution([8, 16, 16, 32, 60], 64, (3, 5, 7), 2, (1, 2, 3), groups=2, transposed=True, output_padding=1),
]
