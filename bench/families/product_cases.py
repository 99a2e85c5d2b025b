"""Matrix products: small ones in batches in FP32, layers in FP32, and layers in bfloat16 with what
follows them. Shapes are typical of networks; they are not from tasks."""

from cases import case, leaf, node


def batched(batch, rows, depth, columns, dtype="float32"):
    leaves = [leaf("a", [batch, rows, depth], dtype), leaf("b", [batch, depth, columns], dtype)]
    product = node("c", "matmul", ["a", "b"], [batch, rows, columns], dtype)
    return case(f"bmm_{dtype}_{batch}x{rows}x{depth}x{columns}", "torch.bmm(a, b)", "c", leaves, [product])


def layer(rows, depth, columns, dtype, activation):
    """x @ w.T + bias, then an activation; the weight's rows are the result's columns."""
    shape = [rows, columns]
    leaves = [leaf("x", [rows, depth], dtype), leaf("w", [columns, depth], dtype), leaf("bias", [columns], dtype)]
    nodes = [node("t", "permute", ["w"], [depth, columns], dtype, dims=[1, 0]), node("c", "matmul", ["x", "t"], shape, dtype),
             node("s", "add", ["c", "bias"], shape, dtype)]
    expression = "F.linear(x, w, bias)"
    if activation:
        nodes.append(node("y", activation, ["s"], shape, dtype))
        expression = f"{'torch' if activation == 'relu' else 'F'}.{activation}({expression})"
    return case(f"layer_{dtype}_{rows}x{depth}x{columns}_{activation or 'bias'}", expression, "c", leaves, nodes)


CASES = [
    batched(1024, 64, 64, 64), batched(256, 128, 64, 128), batched(32, 33, 33, 4096),
    batched(128, 197, 64, 197), batched(4096, 32, 32, 32), batched(64, 256, 256, 256),
    layer(8192, 320, 2560, "bfloat16", None), layer(2048, 2048, 8192, "bfloat16", "silu"),
    layer(12608, 768, 3072, "bfloat16", "gelu"), layer(512, 3072, 16384, "bfloat16", None),
    layer(8192, 1024, 4096, "float32", "gelu"), layer(4096, 512, 512, "float32", "silu"),
]
