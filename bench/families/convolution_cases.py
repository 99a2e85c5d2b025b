"""Cases of channels-last convolutions in bfloat16 and TF32, at sizes of published networks.

They are for families/matmul/implicit_gemm.cpp. Torch computes each on channels-last memory with
cudnn.benchmark on, and what follows by Inductor where --compile names the case.
"""
from cases import FLOAT, case, leaf, node

HALF = "bfloat16"


def convolution(network, batch, channels, side, outputs, kernel, stride=1, padding=None, dilation=1, residual=False, act="relu", dtype=HALF):
    padding = kernel // 2 * dilation if padding is None else padding
    out = (side + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    image, filters, result = (batch, side, side, channels), (outputs, kernel, kernel, channels), (batch, out, out, outputs)
    leaves = [leaf("x", image, dtype), leaf("w", filters, dtype, "parameter"), leaf("b", (outputs,), dtype)]
    nodes = [node("image", "permute", ["x"], (batch, channels, side, side), dtype, dims=[0, 3, 1, 2]),
             node("filters", "permute", ["w"], (outputs, channels, kernel, kernel), dtype, dims=[0, 3, 1, 2]),
             node("c", "conv", ["image", "filters"], (batch, outputs, out, out), dtype, stride=[stride] * 2, padding=[padding] * 2,
                  dilation=[dilation] * 2, groups=1),
             node("last", "permute", ["c"], result, dtype, dims=[0, 2, 3, 1]), node("sum", "add", ["last", "b"], result, dtype)]
    value, text = "sum", (f"F.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), None, {stride}, {padding}, {dilation})"
                          ".permute(0, 2, 3, 1) + b")
    if residual:
        leaves.append(leaf("r", result, dtype))
        nodes.append(node("all", "add", [value, "r"], result, dtype))
        value, text = "all", f"{text} + r"
    nodes.append(node("y", act, [value], result, dtype))
    name = f"{network}_{batch}x{channels}x{side}_{outputs}_k{kernel}s{stride}" + (f"d{dilation}" if dilation > 1 else "")
    name += "_float32" if dtype == FLOAT else ""
    call = "F.silu" if act == "silu" else "torch.relu"
    return case(name + ("_add" if residual else ""), f"{call}({text})", "c", leaves, nodes)


CASES = [
    convolution("resnet", 1, 64, 56, 64, 3), convolution("resnet", 1, 256, 14, 256, 3, residual=True),
    convolution("resnet", 1, 512, 7, 512, 3), convolution("resnet", 1, 1024, 14, 256, 1), convolution("resnet", 1, 512, 7, 2048, 1, residual=True),
    convolution("resnet", 8, 64, 56, 64, 3), convolution("resnet", 8, 256, 56, 64, 1), convolution("resnet", 8, 64, 56, 256, 1, residual=True),
    convolution("resnet", 8, 128, 28, 128, 3), convolution("resnet", 8, 128, 56, 128, 3, stride=2), convolution("resnet", 8, 256, 14, 256, 3),
    convolution("resnet", 8, 1024, 14, 256, 1), convolution("resnet", 8, 512, 7, 512, 3), convolution("resnet", 8, 256, 56, 512, 1, stride=2),
    convolution("resnet", 64, 64, 56, 64, 3), convolution("resnet", 64, 64, 56, 256, 1, residual=True), convolution("resnet", 64, 128, 28, 128, 3),
    convolution("resnet", 64, 512, 28, 128, 1), convolution("resnet", 64, 256, 14, 256, 3), convolution("resnet", 64, 256, 28, 256, 3, stride=2),
    convolution("resnet", 64, 512, 7, 512, 3), convolution("resnet", 64, 512, 7, 2048, 1, residual=True),
    convolution("unet", 2, 320, 64, 320, 3, act="silu"), convolution("unet", 2, 640, 32, 640, 3, act="silu"),
    convolution("unet", 2, 1280, 16, 1280, 3, act="silu"), convolution("unet", 2, 1920, 32, 640, 3, act="silu"),
    convolution("unet", 2, 320, 64, 320, 3, stride=2, act="silu"), convolution("vae", 1, 128, 256, 128, 3, act="silu"),
    convolution("vae", 1, 512, 64, 512, 3, act="silu"), convolution("fpn", 2, 256, 100, 256, 3), convolution("fpn", 2, 512, 100, 256, 1),
    convolution("deeplab", 2, 2048, 33, 256, 3, dilation=6), convolution("efficientnet", 8, 96, 56, 24, 1), convolution("efficientnet", 8, 40, 28, 240, 1, act="silu"),
    convolution("yolo", 8, 256, 40, 256, 3, act="silu"), convolution("yolo", 1, 128, 80, 256, 3, stride=2, act="silu"),
    *(convolution(*one, dtype=FLOAT) for one in [("resnet", 1, 256, 14, 256, 3), ("resnet", 64, 64, 56, 64, 3), ("resnet", 64, 128, 28, 128, 3),
                                                 ("resnet", 64, 256, 14, 256, 3), ("resnet", 8, 512, 28, 128, 1), ("unet", 2, 320, 64, 320, 3),
                                                 ("fpn", 2, 256, 100, 256, 3)]),
]
