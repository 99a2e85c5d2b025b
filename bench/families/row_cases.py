"""Cases for the row family: reductions, softmax, normalizations and losses, as graphs of one region, and the torch function that each is.

Form as in cases.py. Shapes are typical of networks; they are not from tasks.
"""
from cases import case, leaf, node


def text(shape):
    return "x".join(map(str, shape))


def reduced(shape, dims, keep):
    return [1 if d in dims else s for d, s in enumerate(shape) if keep or d not in dims]


def reduction(op, shape, dims, expression, dtype="float32", **attributes):
    out = "int64" if op.startswith("arg") else dtype
    return case(f"{op}_{text(shape)}_over{'_'.join(map(str, dims))}_{dtype}", expression, "y", [leaf("x", shape, dtype)],
                [node("y", op, ["x"], reduced(shape, dims, False), out, dims=list(dims), keepdim=False, **attributes)])


def softmax(shape, dim, op="softmax", dtype="float32"):
    return case(f"{op}_{text(shape)}_dim{dim}_{dtype}", f"torch.{op}(x, {dim})", "y", [leaf("x", shape, dtype)],
                [node("y", op, ["x"], shape, dtype, dim=dim)])


def layer_norm(shape, dims, dtype="float32"):
    inner = [shape[d] for d in dims]
    return case(f"layer_norm_{text(shape)}_over{len(dims)}_{dtype}", f"F.layer_norm(x, {inner}, w, b)", "y",
                [leaf("x", shape, dtype), leaf("w", inner, dtype), leaf("b", inner, dtype)],
                [node("y", "layer_norm", ["x", "w", "b"], shape, dtype, dims=list(dims), eps=1e-5)])


def group_norm(shape, groups, parameters=True):
    leaves = [leaf("x", shape)] + ([leaf("w", [shape[1]]), leaf("b", [shape[1]])] if parameters else [])
    call = f"F.group_norm(x, {groups}, w, b)" if parameters else f"F.group_norm(x, {groups})"
    return case(f"group_norm_{text(shape)}_groups{groups}", call, "y", leaves,
                [node("y", "group_norm", [item["name"] for item in leaves], shape, groups=groups, eps=1e-5,
                      absent="" if parameters else "weight,bias")])


def batch_norm(shape, relu=False):
    leaves = [leaf("x", shape), leaf("w", [shape[1]]), leaf("b", [shape[1]])]
    nodes = [node("y", "batch_norm", ["x", "w", "b"], shape, training=True, eps=1e-5, momentum=0.1,
                  absent="running_mean,running_var")]
    call = "F.batch_norm(x, None, None, w, b, True)"
    if relu:
        nodes.append(node("z", "relu", ["y"], shape))
        call = f"torch.relu({call})"
    return case(f"batch_norm_{text(shape)}{'_relu' if relu else ''}", call, "y", leaves, nodes)


def rms_norm(shape, dim):
    row = reduced(shape, [dim], True)
    nodes = [node("sq", "square", ["x"], shape), node("m", "mean", ["sq"], row, dims=[dim], keepdim=True),
             node("e", "constant", [], [], value=1e-5), node("a", "add", ["m", "e"], row), node("r", "rsqrt", ["a"], row),
             node("y", "mul", ["x", "r"], shape)]
    return case(f"rms_norm_{text(shape)}_dim{dim}", f"x * torch.rsqrt(x.square().mean({dim}, keepdim=True) + 1e-5)", "m",
                [leaf("x", shape)], nodes)


def norm_division(shape, dims, p):
    row = reduced(shape, dims, True)
    return case(f"normalise_l{p}_{text(shape)}_over{len(dims)}", f"x / torch.linalg.vector_norm(x, {p}, {list(dims)}, keepdim=True)", "n",
                [leaf("x", shape)], [node("n", "norm", ["x"], row, p=float(p), dims=list(dims), keepdim=True),
                                     node("y", "div", ["x", "n"], shape)])


def loss(shape):
    dims = list(range(len(shape)))
    return case(f"mean_square_error_{text(shape)}", "((a - b) * (a - b)).mean()", "y", [leaf("a", shape), leaf("b", shape)],
                [node("d", "sub", ["a", "b"], shape), node("s", "mul", ["d", "d"], shape),
                 node("y", "mean", ["s"], [], dims=dims, keepdim=False)])


CASES = [
    batch_norm([16, 64, 256, 256]), group_norm([16, 64, 256, 256], 8), softmax([1024, 262144], 1), layer_norm([16, 64, 256, 256], [1, 2, 3]),
    group_norm([32, 64, 256, 256], 64, False), softmax([1024, 50000], 1, "log_softmax"), norm_division([128, 65536], [1], 1),
    softmax([512, 393216], 1), norm_division([4096, 65535], [1], 2),
    softmax([16, 256, 64, 64], 1), batch_norm([4096, 1024]), layer_norm([8192, 768], [1]), layer_norm([16384, 2048], [1], "bfloat16"),
    reduction("argmax", [128, 1024, 1024], [1], "x.argmax(1)"), reduction("argmin", [64, 1024, 1024], [2], "x.argmin(2)"),
    reduction("sum", [1 << 28], [0], "x.sum()"), reduction("sum", [1 << 20], [0], "x.sum()"),
    reduction("sum", [65536, 512], [0], "x.sum(0)"), reduction("logsumexp", [1024, 8192], [1], "x.logsumexp(1)"),
    reduction("var", [64, 128, 56, 56], [2, 3], "x.var((2, 3))", correction=1),
    reduction("norm", [64, 1 << 20], [1], "torch.linalg.vector_norm(x, 2, 1)", p=2.0),
    reduction("sum", [4096, 8192], [1], "x.sum(1)", "float16"), loss([32768, 4096]), loss([128, 4096]),
    reduction("sum", [128, 1024, 1023], [1], "x.sum(1)"), reduction("mean", [4096, 4095], [1], "x.mean(1)"),
    softmax([4096, 1024], 1), softmax([16, 16384], 1), softmax([8192, 4096], 1, dtype="float16"), softmax([32768, 128], 1, "log_softmax"),
    group_norm([112, 64, 128, 128], 8), group_norm([64, 256, 32, 32], 16), batch_norm([128, 512, 14, 14], True),
    batch_norm([64, 64, 56, 56], True), rms_norm([16, 64, 256, 256], 1), rms_norm([8192, 4096], 1),
    norm_division([16, 64, 256, 256], [0, 1, 2, 3], 2), norm_division([16384, 1000], [1], 2),
    reduction("sum", [128, 4096, 1024], [1], "x.sum(1)"), reduction("sum", [16, 256, 256], [1], "x.sum(1)"),
    reduction("mean", [128, 1024, 1024], [2], "x.mean(2)"), reduction("amax", [128, 1024, 1024], [0], "x.amax(0)"),
    reduction("amin", [64, 512, 1024], [1], "x.amin(1)"),
]
