"""Runs the FP32 plans that matmul_emit printed on operands of the whole range of FP32, next to cuBLAS FP32: rows of 2^0 to 2^30 along k and
across it, denormal numbers, zeros, sums that overflow, infinities and NaN.

    python3 range_run.py plans.jsonl

Errors are given in units of 2^-24 sum |a||b|, the largest of all elements. Exits with 1 where a
plan errs by more than its algorithm may (docs/internals/matmul.md), gives a number for an infinity
or a NaN or the other way round, or gives other bits when run again.
"""
import json
import pathlib
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import torch
import gpu
from family_run import Case, compiled, words

TINY = 2.0 ** -114  # below, the second TF32 part of a number is denormal
LARGEST = torch.finfo(torch.float32).max


def exponents(shape, low, high):
    return torch.randint(low, high + 1, shape, device="cuda", dtype=torch.int32)


def wide(shape, low, high):
    """Exponents of [low, high], any mantissa and sign."""
    value = (1 + torch.rand(shape, device="cuda", dtype=torch.float64)) * torch.exp2(exponents(shape, low, high).double())
    return (value * (exponents(shape, 0, 1) * 2 - 1)).float()


def along(values, power):
    return values * torch.exp2((torch.arange(values.shape[-1], device="cuda") % 31 * power).float())


def with_some(values, *special):
    values = values.clone()
    for i, one in enumerate(special):
        values[..., (7 * i + 3) % values.shape[-2], (11 * i + 5) % values.shape[-1]] = one
    return values


def normal(shape):
    return torch.randn(shape, device="cuda")


def softmax(shape):
    return torch.softmax(8 * normal(shape), -1)


def half_zero(shape):
    values = normal(shape)
    values[..., ::2, :] = 0
    return values


def hill(shape):
    values = along(normal(shape), 2)
    values[..., 5] = normal(values[..., 5].shape)
    return values


def lone(shape):
    values = torch.zeros(shape, device="cuda")
    values[..., 5] = 1
    return values


INF, NAN = float("inf"), float("nan")
KINDS = {  # name: (left, right), both with k last
    "normal": (normal, normal),
    "rows of 2^0 to 2^30": (lambda s: along(normal(s).mT, 1).mT, normal),
    "2^0 to 2^30 along k": (lambda s: along(normal(s), 1), normal),
    "2^0 to 2^30 against 2^0 to 2^-30": (lambda s: along(normal(s), 1), lambda s: along(normal(s), -1)),
    "2^0 to 2^30 against zeros": (lambda s: along(normal(s), 1), half_zero),
    "one element beside larger ones": (lone, hill),
    "probabilities": (softmax, normal),
    "probabilities, half of the columns zero": (softmax, half_zero),
    "any exponents": (lambda s: wide(s, -149, 126), lambda s: wide(s, -40, -20)),
    "denormal against large": (lambda s: wide(s, -149, -127), lambda s: wide(s, 90, 120)),
    "overflow": (lambda s: wide(s, 60, 120), lambda s: wide(s, 0, 60)),
    "infinities": (lambda s: with_some(normal(s), INF, -INF), lambda s: with_some(normal(s), -INF, 0.0, INF)),
    "infinity times zero and NaN": (lambda s: with_some(normal(s), INF, NAN), lambda s: with_some(half_zero(s), INF)),
    "NaN everywhere": (lambda s: normal(s) * NAN, normal),
}


def limit_of(algorithm, depth):
    """In units of 2^-24 sum |a||b|: what the parts leave out, what tensor cores truncate between two promotions, and the promotions."""
    return {2: 16 + 216 + depth / 32, 3: 16 + 136 + depth / 64}.get(algorithm, depth + 8)


def problems(out, again, exact, scale, extra, limit):
    found = []
    if not torch.equal(out.view(torch.int32), again.view(torch.int32)):
        found.append("other bits when run again")
    may_overflow = scale >= LARGEST
    if ((out.isnan() != exact.isnan()) & ~may_overflow).any():
        found.append(f"{int(((out.isnan() != exact.isnan()) & ~may_overflow).sum())} elements are NaN, or should be")
    wrong = (out.isinf() != exact.isinf()) | (out.isinf() & (out.double() != exact))
    if (wrong & ~exact.isnan() & ~may_overflow).any():
        found.append(f"{int((wrong & ~exact.isnan() & ~may_overflow).sum())} elements are infinite, or should be")
    finite = exact.isfinite() & out.isfinite()
    error = ((out.double() - exact).abs() - extra).clamp(min=0)
    units = (error / (scale * 2.0 ** -24).clamp(min=2.0 ** -300))[finite & (error > 0)]
    units = units.max().item() if units.numel() else 0.0
    if units > limit:
        found.append(f"errs by {units:.3g} units, may by {limit:.0f}")
    return units, found


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(0)
    entries = [json.loads(line) for line in pathlib.Path(sys.argv[1]).read_text().splitlines()]
    entries = [entry for entry in entries if entry["dtype"] == "float32" and entry["epilogue"] == "none"]
    folder = pathlib.Path(tempfile.mkdtemp())
    with ThreadPoolExecutor(16) as pool:
        built = list(pool.map(lambda pair: compiled(pair[1]["plan"], folder, pair[0]), enumerate(entries)))
    bad = 0
    for kind, (left, right) in KINDS.items():
        for entry, (cubin, log) in zip(entries, built):
            if cubin is None:
                print(words(entry["configuration"]), log[-600:])
                bad += 1
                continue
            m, n, k, batch, layout = (entry[key] for key in ("m", "n", "k", "batch", "layout"))
            lead = (batch,) if batch > 1 else ()
            case = Case(entry)
            torch.manual_seed(1)
            a, b = left((*lead, m, k)), right((*lead, n, k))
            case.buffers["a"] = a.mT.contiguous() if layout[0] == "t" else a
            case.buffers["b"] = b if layout[1] == "t" else b.mT.contiguous()
            exact = a.double() @ b.double().mT
            scale = a.double().nan_to_num(0, 0, 0).abs() @ b.double().nan_to_num(0, 0, 0).abs().mT
            extra = torch.full_like(scale, k * 2.0 ** -149)
            algorithm = entry["configuration"]["algorithm"]
            if algorithm == 2:
                small = lambda x: ((x != 0) & (x.abs() < TINY)).double()
                size = lambda x: x.double().nan_to_num(0, 0, 0).abs()
                extra += 2.0 ** -136 * (small(a) @ size(b).mT + size(a) @ small(b).mT)
            case.out.fill_(7)
            work, _ = case.candidate(entry, gpu.Module(cubin))
            work()
            out = case.out.clone()
            case.out.fill_(8)
            work()
            units, found = problems(out, case.out, exact, scale, extra, limit_of(algorithm, k))
            fp32, _ = problems(a @ b.mT, a @ b.mT, exact, scale, torch.zeros_like(scale), 1e300)
            took = gpu.median_ms(work, 3) * 1e3
            bad += bool(found)
            print(f"{kind}: {m}x{n}x{k} {layout} {words(entry['configuration'])} {took:.1f} us, {units:.3g} units (fp32 {fp32:.3g})"
                  + "".join("; FAILED: " + one for one in found), flush=True)
    print(f"{bad} failed" if bad else "all good")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
