"""Holds a module against its traced graph, on the module's own inputs.

    python3 compare.py [--device cuda] [--largest-gb 0.5] [--shard 0/4] [--dump DIR] FILES | --jsonl FILE

A JSON lines file has a field `ref_code` a line. Prints one line a source, and the counts; skips
what is too large for the machine and reports this.
"""
import argparse
import contextlib
import glob
import json
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def built_folder():
    """The runner's Python files as a build lays them out, with the table of operators: WARPWRIGHT_TORCH_FOLDER, or of the newest build."""
    tables = glob.glob(os.path.join(ROOT, "build", "*", "bin", "torch", "tracing", "operators.json"))
    newest = max(tables, key=os.path.getmtime, default=os.path.join(ROOT, "runner", "torch", "python", "tracing", ""))
    return os.environ.get("WARPWRIGHT_TORCH_FOLDER") or os.path.dirname(os.path.dirname(newest))


sys.path[:0] = [HERE, built_folder(), os.path.join(ROOT, "runtime")]

import graph_run  # noqa: E402
import trace as tracer  # noqa: E402
from tracing import source as sources  # noqa: E402
from tracing.builder import contiguous_strides  # noqa: E402
from tracing.call import map_tensors  # noqa: E402
from tracing.errors import Refusal  # noqa: E402
from tracing.result import named_tensors, output_tensors, plain_attributes  # noqa: E402


class Skipped(Exception):
    pass


def graph_bytes(traced):
    sizes = {"float64": 8, "int64": 8, "float16": 2, "bfloat16": 2, "bool": 1, "uint8": 1, "int8": 1}
    total = 0
    for node in traced["graph"]["nodes"]:
        for kind in node["types"]:
            count = sizes.get(kind["dtype"], 4)
            for extent in kind["shape"]:
                count *= extent
            total = max(total, count)
    return total


def graph_operations(traced):
    """Multiply-adds of products and convolutions, roughly: what takes long on a CPU."""
    shapes = {node["name"]: node["types"][0]["shape"] for node in traced["graph"]["nodes"]}
    total = 0
    for node in traced["graph"]["nodes"]:
        count = 1
        for extent in node["types"][0]["shape"]:
            count *= extent
        if node["op"] == "matmul":
            total += count * shapes[node["inputs"][0]][-1]
        elif node["op"] == "conv":
            weight = shapes[node["inputs"][1]]
            for extent in weight[1:]:
                count *= extent
            total += count
    return total


def compare(text, device="cpu", sizes=(0, 2 ** 29), operations=1e18, tolerance=2e-3, mode="made", dump=None):
    """@param sizes least and most bytes of the largest tensor
    @raise AssertionError with what differs; Refusal; Skipped"""
    traced = tracer.trace_module(text, mode=mode)
    if dump:
        with open(dump, "w", encoding="utf-8") as file:
            json.dump(traced, file)
    if not sizes[0] <= graph_bytes(traced) <= sizes[1]:
        raise Skipped("a tensor has %.1f GB" % (graph_bytes(traced) / 2 ** 30))
    if graph_operations(traced) > operations:
        raise Skipped("%.0f G multiply-adds" % (graph_operations(traced) / 1e9))
    torch.manual_seed(7)
    namespace = sources.load(text)
    with made_on(device), torch.no_grad():
        module = sources.make_module(namespace, "Model", "get_init_inputs", mode).to(device)
        inputs = sources.make_inputs(namespace, "get_inputs")
    expect_same(traced, module, inputs, device, tolerance)
    return traced


def expect_same(traced, module, inputs, device="cpu", tolerance=2e-3):
    """The graph and the module give the same for these inputs. @raise AssertionError with what differs"""
    moved = map_tensors(lambda tensor: tensor.to(device), inputs)
    names = list(moved) if isinstance(moved, dict) else sources.argument_names(module, len(moved))
    arguments, keywords = ([], moved) if isinstance(moved, dict) else (moved, {})
    moved = list(moved.values()) if isinstance(moved, dict) else moved
    given = dict(leaf for name, value in zip(names, moved) for leaf in named_tensors(name, value))
    inputs_of = {node["name"] for node in traced["graph"]["nodes"] if node["op"] == "input"}

    def state(buffer):
        return (given if buffer["name"] in inputs_of else held(module))[buffer["torch_name"]]
    leaves = {b["name"]: state(b).detach().clone() for b in traced["buffers"] if b["direction"] != "out"}
    expect_order(traced, module, names, moved)
    with torch.no_grad():
        got, updates = graph_run.run(traced["graph"], leaves, device)
        del leaves
        expected = output_tensors(module(*arguments, **keywords))
    outs = [b for b in traced["buffers"] if b["direction"] == "out"]
    assert len(got) == len(expected) == len(outs), "%d outputs of %d" % (len(got), len(expected))
    for name, a, b in zip([o["name"] for o in outs], got, expected):
        close(name, a, b, tolerance)
    if device == "cpu":  # a GPU's kernels may lay results out differently
        expect_strides(traced, expected)
    for buffer in traced["buffers"]:
        if buffer["direction"] == "inout":
            close(buffer["name"], updates[buffer["name"]], state(buffer), tolerance)
        elif buffer["direction"] == "in":
            assert buffer["name"] not in updates


def made_on(device):
    """Factories make their tensors there, where this torch can do that."""
    return torch.device(device) if device != "cpu" and hasattr(torch, "set_default_device") else contextlib.nullcontext()


def held(module):
    return {**plain_attributes(module), **dict(module.named_parameters()), **dict(module.named_buffers())}


def expect_order(traced, module, names, inputs):
    wanted = [leaf[0] for name, value in zip(names, inputs) for leaf in named_tensors(name, value)]
    wanted += [name for name, _ in module.named_parameters()] + [name for name, _ in module.named_buffers()]
    got = [b["torch_name"] for b in traced["buffers"] if b["direction"] != "out"]
    assert got[:len(wanted)] == wanted and set(got[len(wanted):]) <= set(plain_attributes(module)), "buffers are %s, not %s" % (got, wanted)
    leaves = [n["name"] for n in traced["graph"]["nodes"] if n["op"] in ("input", "parameter")]
    assert leaves == [b["name"] for b in traced["buffers"] if b["direction"] != "out"], "leaves in another order"


def expect_strides(traced, expected):
    types = {node["name"]: node["types"][0] for node in traced["graph"]["nodes"]}
    for name, tensor in zip(traced["graph"]["outputs"], expected):
        stated = types[name].get("strides") or contiguous_strides(types[name]["shape"])
        wrong = [d for d, extent in enumerate(tensor.shape) if extent != 1 and tensor.stride(d) != stated[d]]
        assert not wrong or tensor.numel() <= 1, "%s has strides %s, not %s" % (name, list(tensor.stride()), stated)


def close(name, got, expected, tolerance):
    """Relative to the largest element, since sums in another order differ where results cancel."""
    assert got.shape == expected.shape and got.dtype == expected.dtype, "%s is %s%s, not %s%s" % (
        name, got.dtype, list(got.shape), expected.dtype, list(expected.shape))
    if not got.dtype.is_floating_point:
        share = (got != expected).double().mean().item() if got.numel() else 0
        assert share == 0, "%s differs in %.2g of its elements" % (name, share)
        return
    if got.dtype != torch.float64 and got.numel() < 2 ** 24:
        got, expected = got.double(), expected.double()
    special = torch.isfinite(got) != torch.isfinite(expected)
    assert not special.any().item(), "%s is infinite or NaN elsewhere" % name
    error = torch.nan_to_num((got - expected).abs(), 0, 0, 0).max().item() if got.numel() else 0
    scale = torch.nan_to_num(expected.abs(), 0, 0, 0).max().item() if got.numel() else 0
    assert error <= tolerance * max(scale, 1e-3), "%s differs by %.3g at values up to %.3g" % (name, error, scale)


def sources_of(options):
    if options.jsonl:
        with open(options.jsonl, encoding="utf-8") as lines:
            for line in lines:
                task = json.loads(line)
                yield "%s_%s" % (task["level_id"], task["task_id"]), task["ref_code"]
    for pattern in options.files:
        for path in sorted(glob.glob(pattern)):
            with open(path, encoding="utf-8") as file:
                yield os.path.join(os.path.basename(os.path.dirname(path)), os.path.basename(path)), file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("--jsonl")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--largest-gb", type=float, default=0.5, help="skip what has a larger tensor")
    parser.add_argument("--above-gb", type=float, default=0, help="skip what has no larger tensor")
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--dump", help="folder for the graphs")
    parser.add_argument("--operations", type=float, default=1e18, help="multiply-adds beyond which a source is skipped")
    options = parser.parse_args()
    counts = {"equal": 0, "refused": 0, "skipped": 0, "wrong": 0}
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    shard, shards = map(int, options.shard.split("/"))
    sizes = options.above_gb * 2 ** 30, options.largest_gb * 2 ** 30
    if options.dump:
        os.makedirs(options.dump, exist_ok=True)
    for name, text in [source for i, source in enumerate(sources_of(options)) if i % shards == shard]:
        dump = options.dump and os.path.join(options.dump, name.replace("/", "_").replace(".py", "") + ".json")
        try:
            compare(text, options.device, sizes, options.operations, dump=dump)
            kind, why = "equal", ""
        except Refusal as error:
            kind, why = "refused", error
        except Skipped as error:
            kind, why = "skipped", error
        except Exception as error:
            if "out of memory" in str(error):
                kind, why = "skipped", "out of memory"
            else:
                kind, why = "wrong", "%s: %s" % (type(error).__name__, str(error)[:300].replace("\n", " "))
        counts[kind] += 1
        print(("%s %s: %s" % (kind, name, why)).rstrip(": "), flush=True)
        if options.device == "cuda":
            torch.cuda.empty_cache()
    print(", ".join("%d %s" % (count, kind) for kind, count in counts.items()), flush=True)
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
