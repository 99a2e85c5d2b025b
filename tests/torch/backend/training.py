#!/usr/bin/env python3
"""50 steps of SGD under torch.compile(backend=warpwright.backend), with each legal region exchanged, next to eager PyTorch.

usage: python3 training.py BIN [--device cuda] [--only bert,swin] [--steps 50] [--jobs 2] [--out ROWS.jsonl] [--store FOLDER] [--plant]

Masks of dropout are drawn as in eager mode (fallback_random) from the same seed in each step. After
the last step every parameter and every running statistic is compared: its distance from float64's
is at most 4 times eager's, or where float64 draws other masks, its distance from eager's is small.
Where it is not, plain Inductor is trained too: what is no further from eager than its own result
counts "as inductor". How far training moved is printed, so that a comparison of models that learned
nothing is seen. Exit code 1: something was wrong.
"""

import argparse
import collections
import copy
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import states  # noqa: E402

NAMES = ("bert_layer", "roberta_padded", "distilbert_block", "gpt2_block", "qwen3_layer", "mistral_sliding_window", "gemma2_soft_cap", "t5_block",
         "bart_decoder_layer", "vit_layer", "mamba_mixer", "segformer_layer", "convnext_block", "efficientnet_mbconv", "swin_block",
         "deeplab_head", "gcn_conv", "gin_conv_pooled", "unet_resnet_block", "dit_block", "encoder_and_lstm", "conformer_stft")
RATE, TINY = 0.02, 2e-5
MASKS_DIFFER = 1e-2  # eager further from float64 than this drew other masks
CHAOS = 1e-3         # of all that moved: what two right runs of 50 steps may differ by


def trained(model, form, draw, steps):
    """@return (the state after the steps, the losses)"""
    import torch
    optimizer = torch.optim.SGD([one for one in model.parameters() if one.requires_grad], lr=RATE, momentum=0.5)
    model.train()
    losses = []
    for step in range(steps):
        given = draw(step)
        torch.manual_seed(1000 + step)
        outputs = [one for one in states.leaves(form(**given)) if one.requires_grad]
        loss = sum((one - states.weights_of(one)).square().mean() for one in outputs)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss))
    return {name: one.detach().double().clone() for name, one in model.state_dict().items() if one.is_floating_point()}, losses


def distance(one, other):
    """Of all values together, over their size."""
    total = sum(float((one[name] - other[name]).square().sum()) for name in one)
    return (total / max(sum(float(value.square().sum()) for value in other.values()), 1e-30)) ** 0.5


def row_of(name, options):
    import torch
    import modules
    from warpwright import backend
    row = {"module": name, "device": states.device_name(options.device), "torch": torch.__version__, "steps": options.steps}
    start, counts = time.monotonic(), collections.Counter()
    try:
        model, drawn = modules.made(name)
    except ImportError as error:
        return {**row, "skipped": states.first_line(error)}
    states.compiled_graphs(counts, options.plant)
    model.to(options.device)

    def draw(step, wide=False):
        return states.mapped(drawn(2, seed=step % 4), lambda one: one.to(options.device, torch.float64 if wide and one.is_floating_point() else None))

    first = {name: one.detach().double().clone() for name, one in model.state_dict().items() if one.is_floating_point()}
    exact_model, ours_model, start_state = copy.deepcopy(model).double(), copy.deepcopy(model), copy.deepcopy(model.state_dict())
    eager, losses = trained(model, model, draw, options.steps)
    exact, _ = trained(exact_model, exact_model, lambda step: draw(step, True), options.steps)
    force = {} if options.store else {"warpwright.force": True}
    ours, _ = trained(ours_model, torch.compile(ours_model, backend=backend, options={**states.OPTIONS, **force}), draw, options.steps)
    error_eager, error_ours, apart, moved = distance(eager, exact), distance(ours, exact), distance(ours, eager), distance(eager, first)
    if error_eager > MASKS_DIFFER:
        right = apart <= CHAOS * moved + TINY
    else:
        right = error_ours <= states.FACTOR * error_eager + TINY
    if not right:
        plain_model = copy.deepcopy(exact_model).float()
        plain_model.load_state_dict(start_state)
        plain, _ = trained(plain_model, torch.compile(plain_model, options=states.OPTIONS), draw, options.steps)
        row["apart_inductor"] = distance(plain, eager)
        row["as_inductor"] = right = apart <= states.FACTOR * row["apart_inductor"]
    return {**row, "right": right, "error_eager": error_eager, "error_ours": error_ours, "apart": apart, "moved": moved, "losses": [losses[0], losses[-1]],
            **counts, "seconds": round(time.monotonic() - start, 1)}


def verdict_of(row):
    return next((one for one in ("skipped", "failed") if one in row), "as inductor" if row.get("as_inductor") else "right" if row.get("right") else "wrong")


def line_of(row):
    if "right" not in row:
        return f"{row['module']:28} " + ("skipped: " + row["skipped"] if "skipped" in row else "failed: " + row["failed"])
    return (f"{row['module']:28} {verdict_of(row)}: error {row['error_ours']:.1e}, eager's {row['error_eager']:.1e}, apart "
            f"{row['apart']:.1e}, moved {row['moved']:.1e}, loss {row['losses'][0]:.3f} -> {row['losses'][1]:.3f}, {row.get('calls', 0)} calls, "
            f"{row['seconds']} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--device", default="cpu")
    for name in ("--only", "--store", "--out", "--worker"):
        parser.add_argument(name, default="")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--plant", action="store_true")
    options = parser.parse_args()
    if options.worker:
        states.prepare(options)
        print(json.dumps(row_of(options.worker, options)), flush=True)
        return 0
    wanted = [one for one in options.only.split(",") if one]
    names = [name for name in NAMES if not wanted or any(name.startswith(one) for one in wanted)]
    found = collections.Counter()
    for row in rows_of(names, options):
        print(line_of(row), flush=True)
        found[verdict_of(row)] += 1
        if options.out:
            with open(options.out, "a") as file:
                file.write(json.dumps(row) + "\n")
    print(f"{sum(found.values())} modules: " + ", ".join(f"{count} {name}" for name, count in sorted(found.items())))
    return 1 if found["wrong"] or found["failed"] or not found else 0


def rows_of(names, options):
    import concurrent.futures

    def one(name):
        command = [sys.executable, "-B", os.path.abspath(__file__), options.bin, "--worker", name, "--device", options.device, "--steps", str(options.steps)]
        command += (["--store", options.store] if options.store else []) + (["--plant"] if options.plant else [])
        place = {**os.environ, "OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=place, text=True)
        lines = [line for line in done.stdout.splitlines() if line.startswith('{"module"')]
        if done.returncode == 0 and lines:
            return json.loads(lines[-1])
        return {"module": name, "failed": " | ".join(done.stdout.splitlines()[-4:])[-600:]}

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        yield from pool.map(one, names)


if __name__ == "__main__":
    sys.exit(main())
