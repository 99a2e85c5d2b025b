"""Cases for the window families: graphs of one region, and the torch function that each stands for.

Every case is (name, torch function, inputs, anchor, graph). Shapes are typical of networks; they
are not from tasks.
"""

FLOAT = "float32"


def leaf(name, shape, dtype=FLOAT, op="input"):
    return {"name": name, "op": op, "inputs": [], "attributes": {"torch_name": name},
            "types": [{"dtype": dtype, "shape": list(shape)}]}


def node(name, op, inputs, shape, dtype=FLOAT, **attributes):
    return {"name": name, "op": op, "inputs": list(inputs), "attributes": attributes,
            "types": [{"dtype": dtype, "shape": list(shape)}]}


def case(name, expression, anchor, leaves, nodes):
    return {"name": name, "torch": expression, "anchor": anchor,
            "graph": {"nodes": leaves + nodes, "outputs": [nodes[-1]["name"]], "updates": []}}


def scan(shape, dim, op="cumsum", reverse=False):
    leaves = [leaf("x", shape)]
    nodes, value = [], "x"
    if reverse:
        nodes.append(node("front", "flip", ["x"], shape, dims=[dim]))
        value = "front"
    nodes.append(node("scan", op, [value], shape, dim=dim))
    expression = f"torch.{op}(x, {dim})"
    if reverse:
        nodes.append(node("back", "flip", ["scan"], shape, dims=[dim]))
        expression = f"torch.{op}(x.flip({dim}), {dim}).flip({dim})"
    text = "x".join(map(str, shape))
    return case(f"{op}{'_reverse' if reverse else ''}_{text}_dim{dim}", expression, "scan", leaves, nodes)


def pooled(size, kernel, stride, padding, dilation=1):
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def pool(op, shape, kernel, stride, padding=0, dilation=1, relu=False):
    spatial = len(shape) - 2
    out = list(shape[:2]) + [pooled(s, kernel, stride, padding, dilation) for s in shape[2:]]
    leaves, nodes, value, operand = [leaf("x", shape)], [], "x", "x"
    if relu:
        nodes.append(node("r", "relu", ["x"], shape))
        value, operand = "r", "torch.relu(x)"
    every = lambda number: [number] * spatial
    if op == "max_pool":
        attributes = {"dilation": every(dilation)}
        call = f"F.max_pool{spatial}d({operand}, {kernel}, {stride}, {padding}, {dilation})"
    else:
        attributes = {"count_include_pad": True}
        call = f"F.avg_pool{spatial}d({operand}, {kernel}, {stride}, {padding})"
    nodes.append(node("pool", op, [value], out, kernel=every(kernel), stride=every(stride),
                      padding=every(padding), ceil=False, **attributes))
    text = "x".join(map(str, shape))
    return case(f"{op}_{text}_k{kernel}s{stride}p{padding}d{dilation}{'_relu' if relu else ''}", call,
                "pool", leaves, nodes)


def convolution(shape, channels, kernel, stride=1, padding=0, dilation=1, groups=1, transposed=False,
                output_padding=0, bias=True, relu=False):
    spatial = len(shape) - 2
    many = lambda value: list(value) if isinstance(value, (tuple, list)) else [value] * spatial
    kernel, stride, padding, dilation = many(kernel), many(stride), many(padding), many(dilation)
    output_padding = many(output_padding)
    if transposed:
        weight = [shape[1], channels // groups] + kernel
        out = [(s - 1) * st - 2 * p + d * (k - 1) + o + 1 for s, k, st, p, d, o in
               zip(shape[2:], kernel, stride, padding, dilation, output_padding)]
        call = (f"F.conv_transpose{spatial}d(x, w, {'b' if bias else None}, {stride}, {padding}, "
                f"{output_padding}, {groups}, {dilation})")
    else:
        weight = [channels, shape[1] // groups] + kernel
        out = [pooled(s, k, st, p, d) for s, k, st, p, d in zip(shape[2:], kernel, stride, padding, dilation)]
        call = f"F.conv{spatial}d(x, w, {'b' if bias else None}, {stride}, {padding}, {dilation}, {groups})"
    out = [shape[0], channels] + out
    leaves = [leaf("x", shape), leaf("w", weight, op="parameter")]
    if bias:
        leaves.append(leaf("b", [channels], op="parameter"))
    nodes = [node("conv", "conv", ["x", "w"] + (["b"] if bias else []), out, stride=stride, padding=padding,
                  dilation=dilation, groups=groups, transposed=transposed, output_padding=output_padding)]
    if relu:
        nodes.append(node("r", "relu", ["conv"], out))
        call = f"torch.relu({call})"
    name = (f"{'transposed' if transposed else 'conv'}{spatial}d_" + "x".join(map(str, shape)) +
            f"_to{channels}_k{'x'.join(map(str, kernel))}s{'x'.join(map(str, stride))}"
            f"p{'x'.join(map(str, padding))}d{'x'.join(map(str, dilation))}g{groups}" + ("_relu" if relu else ""))
    return case(name, call, "conv", leaves, nodes)


CASES = [
    scan([128, 4000], 1), scan([128, 4000], 1, "cumprod"), scan([128, 4000], 1, reverse=True),
    scan([16384, 8192], 1), scan([4, 4194304], 1), scan([64, 1024, 1024], 1), scan([4096, 256], 0),
    pool("max_pool", [16, 64, 128], 4, 2, 2, 3), pool("max_pool", [64, 128, 32768], 8, 1, 4, 3),
    pool("max_pool", [16, 32, 128, 128], 2, 2, 1, 3), pool("max_pool", [32, 64, 256, 256], 4, 1, 1),
    pool("max_pool", [64, 64, 112, 112], 3, 2, 1, relu=True), pool("max_pool", [16, 32, 64, 64, 64], 3, 2, 1, 3),
    pool("avg_pool", [64, 128, 32768], 8, 1, 4), pool("avg_pool", [16, 64, 256, 256], 3, 3),
    pool("avg_pool", [8, 64, 1024, 1024], 11, 11), pool("avg_pool", [16, 32, 64, 64, 64], 3, 2, 1),
    convolution([16, 3, 256, 256], 3, 3, groups=3), convolution([16, 64, 256, 256], 64, 3, groups=64),
    convolution([32, 128, 128, 256], 128, (3, 7), groups=128), convolution([64, 384, 14, 14], 384, 5, 1, 2, groups=384),
    convolution([64, 144, 56, 56], 144, 3, 2, 1, groups=144),
    convolution([16, 3, 256, 256], 64, 3), convolution([16, 3, 64, 64, 64], 64, 3),
    convolution([16, 3, 64, 64, 64], 64, (3, 5, 7)), convolution([16, 3, 512], 64, 3),
    convolution([64, 64, 56, 56], 64, 3, 1, 1, relu=True), convolution([128, 16, 32, 32], 32, 3, relu=True),
    convolution([32, 128, 28, 28], 256, 3, 2, 1), convolution([10, 512, 7, 7], 512, 3, 1, 1),
    convolution([8, 32, 256, 256], 64, (5, 9), 1, (2, 4), (2, 3)), convolution([10, 3, 224, 224], 64, 7, 2, 3),
    convolution([16, 64, 256, 256], 128, 1), convolution([32, 64, 128, 128], 128, 3, relu=True),
    convolution([16, 256, 56, 56], 256, 3, 1, 1, relu=True), convolution([32, 24, 64, 64], 48, 3, relu=True),
    convolution([16, 8, 32, 64, 64], 24, 3, relu=True),
    convolution([16, 32, 128, 128], 64, 3, transposed=True), convolution([16, 32, 64, 128], 64, 3, 5, 1, 2, transposed=True),
    convolution([16, 32, 16, 32, 64], 16, 3, transposed=True),
    convolution([16, 32, 16, 32, 32], 64, 3, 2, 1, transposed=True, output_padding=1),
    convolution([16, 32, 16, 32, 32], 64, 3, 2, 3, groups=4, transposed=True),
    convolution([16, 3, 32, 32, 32], 64, 3, transposed=True), convolution([16, 64, 128], 3, 3, transposed=True),
    convolution([16, 32, 128], 64, 3, 2, 1, 2, transposed=True),
]
