"""Cases of attention (families/attention) in bfloat16, at sizes of published models."""
from cases import case, leaf, node

HALF = "bfloat16"


def attention(name, batch, heads, shared, queries, keys, size, causal=False, mask=None, cap=0.0):
    """`shared`: heads of keys, which the query heads share."""
    leaves = [leaf("q", (batch, heads, queries, size), HALF), leaf("k", (batch, shared, keys, size), HALF), leaf("v", (batch, shared, keys, size), HALF)]
    nodes, operands, times = [], ["q"], heads // shared
    for part in ("k", "v"):
        if times == 1:
            operands.append(part)
            continue
        nodes += [node(part + "1", "reshape", [part], (batch, shared, 1, keys, size), HALF),
                  node(part + "2", "expand", [part + "1"], (batch, shared, times, keys, size), HALF),
                  node(part + "3", "reshape", [part + "2"], (batch, heads, keys, size), HALF)]
        operands.append(part + "3")
    scale = size ** -0.5
    if mask:
        leaves.append(leaf("mask", mask, HALF))
        operands.append("mask")
    attributes = {"causal": causal, "scale": scale, **({"softcap": cap} if cap else {})}
    nodes.append(node("y", "attention", operands, (batch, heads, queries, size), HALF, **attributes))
    if cap:
        many = f".repeat_interleave({times}, 1)" if times > 1 else ""
        expression = f"torch.softmax({cap} * torch.tanh((q @ k{many}.mT) * {scale / cap})" + (" + mask" if mask else "") + f", -1) @ v{many}"
    else:
        expression = (f"F.scaled_dot_product_attention(q, k, v, is_causal={causal}, scale={scale}, enable_gqa={times > 1}"
                      + (", attn_mask=mask" if mask else "") + ")")
    result = case(name, expression, "y", leaves, nodes)
    if not cap:
        backends = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION"}
        result["others"] = {name: expression.replace("F.scaled_dot_product_attention(", f'attend("{backend}", ')
                            for name, backend in backends.items()}
    return result


CASES = [
    attention("decode_1x32x8_1025x64", 1, 32, 8, 1, 1025, 64),
    attention("decode_1x32x8_2049x128", 1, 32, 8, 1, 2049, 128),
    attention("decode_1x32x8_16384x128", 1, 32, 8, 1, 16384, 128),
    attention("decode_32x16x8_513x128", 32, 16, 8, 1, 513, 128),
    attention("decode_32x24x8_1024x128_mask", 32, 24, 8, 1, 1024, 128, mask=(32, 1, 1, 1024)),
    attention("decode_1x8x4_1025x256_cap", 1, 8, 4, 1, 1025, 256, cap=50.0),
    attention("decode_32x32x32_257x96", 32, 32, 32, 1, 257, 96),
    attention("decode_8x64x8_4096x128", 8, 64, 8, 1, 4096, 128),
    attention("cross_1x20x20_1500x64", 1, 20, 20, 1, 1500, 64),
    attention("prefill_4x12x12_128x64", 4, 12, 12, 128, 128, 64),
    attention("prefill_4x12x12_197x64", 4, 12, 12, 197, 197, 64),
    attention("prefill_2x8x4_256x256_cap", 2, 8, 4, 256, 256, 256, mask=(1, 1, 256, 256), cap=50.0),
    attention("prefill_1x8x4_4096x256_cap", 1, 8, 4, 4096, 4096, 256, mask=(1, 1, 4096, 4096), cap=50.0),
    attention("prefill_4x16x16_256x64_bias", 4, 16, 16, 256, 256, 64, mask=(1, 16, 256, 256)),
    attention("prefill_8x16x16_384x64_mask", 8, 16, 16, 384, 384, 64, mask=(8, 1, 1, 384)),
    attention("prefill_1x32x8_2048x64_causal", 1, 32, 8, 2048, 2048, 64, causal=True),
    attention("prefill_1x32x8_4096x128_causal", 1, 32, 8, 4096, 4096, 128, causal=True),
    attention("prefill_2x32x8_512x128_causal", 2, 32, 8, 512, 512, 128, causal=True),
    attention("prefill_1x20x20_1500x64", 1, 20, 20, 1500, 1500, 64),
    attention("prefill_1x16x16_4096x128", 1, 16, 16, 4096, 4096, 128),
    attention("prefill_8x16x16_1370x64", 8, 16, 16, 1370, 1370, 64),
    attention("prefill_2x8x8_4096x40", 2, 8, 8, 4096, 4096, 40),
    attention("prefill_2x32x32_2048x96", 2, 32, 32, 2048, 2048, 96),
    attention("prefill_1x16x16_8192x64_causal", 1, 16, 16, 8192, 8192, 64, causal=True),
    attention("prefill_1x8x4_4096x256_causal", 1, 8, 4, 4096, 4096, 256, causal=True),
    attention("prefill_1x4x1_16384x128_causal", 1, 4, 1, 16384, 16384, 128, causal=True),
    attention("prefill_2x32x8_1024x128_cap", 2, 32, 8, 1024, 1024, 128, mask=(1, 1, 1024, 1024), cap=30.0),
]
