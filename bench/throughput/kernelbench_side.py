#!/usr/bin/env python3
"""KernelBench's half of the comparison: its own eval_kernel_against_ref on the candidates of candidates.py.

usage: kernelbench_side.py --kernelbench DIR --out FILE --mode sequential|precompiled --count N --seconds S

DIR is a checkout of ScalingIntelligence/KernelBench (or the files of its src/kernelbench under src/); none of it is kept here.
*sequential* does what scripts/eval_from_generations.py does with its defaults: one candidate after the other, each in a
fresh process (multiprocessing, spawn), 5 correctness trials, 100 timing trials with cuda_event, then 100 of the
reference for its check of excessive speedups. *precompiled* is the same after its build_cache option: all candidates
are compiled first by its build_compile_cache in a pool of up to 20 processes. Packages that its modules import and an
evaluation never calls (openai, litellm, ...) are replaced by empty ones where they are missing, which saves it time.
Needs torch, nvcc, ninja. Stops starting candidates after S seconds; at least two are always evaluated.
"""
import argparse
import importlib.util
import json
import multiprocessing
import os
import sys
import tempfile
import time
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import candidates  # noqa: E402

CORRECT_TRIALS, TIMING_TRIALS = 5, 100  # EvalConfig of its script
CPU_WORKERS, TIMEOUT_S = 20, 180
UNUSED = {"dotenv": {"load_dotenv": lambda *_, **__: None}, "openai": {"OpenAI": object}, "litellm": {"completion": None}}


class PlainModel:
    """Stands for pydantic's BaseModel where that is missing: class attributes as defaults, keywords set."""

    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)
        if "metadata" not in values:
            self.metadata = {}


def import_kernelbench(folder):
    source = next(path for path in (os.path.join(folder, "src"), folder) if os.path.isdir(os.path.join(path, "kernelbench")))
    sys.path.insert(0, source)
    replaced = []
    for name, members in {**UNUSED, "pydantic": {"BaseModel": PlainModel}}.items():
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            module = types.ModuleType(name)
            vars(module).update(members)
            sys.modules[name] = module
            replaced.append(name)
    import kernelbench.eval
    return kernelbench.eval, replaced


def set_architecture():
    """What its set_gpu_arch does: compile for the GPU at hand only."""
    import torch
    os.environ["TORCH_CUDA_ARCH_LIST"] = ".".join(map(str, torch.cuda.get_device_capability(0)))


def evaluate(folder, variant, build):
    evaluator, _ = import_kernelbench(folder)
    import torch
    set_architecture()
    result = evaluator.eval_kernel_against_ref(
        original_model_src=candidates.torch_reference(variant[0]), custom_model_src=candidates.torch_candidate(*variant),
        measure_performance=True, timing_method="cuda_event", verbose=False, num_correct_trials=CORRECT_TRIALS,
        num_perf_trials=TIMING_TRIALS, build_dir=build, device=torch.device("cuda:0"), backend="cuda",
        precision=torch.float32)
    return {"compiled": result.compiled, "correct": result.correctness, "runtime_ms": result.runtime,
            "reference_ms": result.ref_runtime, "metadata": {key: str(value)[:500] for key, value in result.metadata.items()}}


def compile_ahead(folder, variant, build, architecture):
    evaluator, _ = import_kernelbench(folder)
    os.environ["TORCH_CUDA_ARCH_LIST"] = architecture
    begun = time.monotonic()
    done = evaluator.build_compile_cache(custom_model_src=candidates.torch_candidate(*variant), verbose=False, build_dir=build)
    return {"compiled": bool(done[0]), "error": str(done[2])[:500] if done[2] else None, "seconds": time.monotonic() - begun}


def evaluate_all(arguments, context, chosen, builds):
    records, begun = [], time.monotonic()
    for variant, build in zip(chosen, builds):
        if len(records) >= 2 and time.monotonic() - begun > arguments.seconds:
            break
        start, record = time.monotonic(), {"variant": list(variant)}
        with context.Pool(1) as pool:
            try:
                record.update(pool.apply_async(evaluate, (arguments.kernelbench, variant, build)).get(TIMEOUT_S))
            except Exception as error:  # of their code: a candidate that was not evaluated
                record.update({"compiled": False, "correct": False, "error": f"{type(error).__name__}: {error}"[:2000]})
        record["seconds"] = round(time.monotonic() - start, 3)
        records.append(record)
        print(f"  KernelBench {variant}: {'correct' if record['correct'] else 'FAILED ' + str(record)[:600]}, "
              f"{record['seconds']:.1f} s", flush=True)
    return records


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernelbench", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--mode", choices=("sequential", "precompiled"), required=True)
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    arguments.kernelbench = os.path.abspath(arguments.kernelbench)
    context = multiprocessing.get_context("spawn")
    # Neighbours of different families, from the middle of the grid of variants.
    every = candidates.variants()
    chosen = [next(every) for _ in range(15 + arguments.count)][15:]
    with tempfile.TemporaryDirectory() as folder:
        builds = [os.path.join(folder, f"{arguments.mode}_{number}") for number in range(len(chosen))]
        for build in builds:
            os.makedirs(build)
        begun, compiled, compile_s = time.monotonic(), [], 0.0
        if arguments.mode == "precompiled":
            with context.Pool(1) as pool:
                architecture = pool.apply(architecture_of_gpu)
            begun = time.monotonic()
            with context.Pool(min(CPU_WORKERS, len(chosen))) as pool:
                compiled = pool.starmap(compile_ahead, [(arguments.kernelbench, variant, build, architecture)
                                                        for variant, build in zip(chosen, builds)])
            compile_s = time.monotonic() - begun
            print(f"  KernelBench compiled {len(chosen)} candidates in parallel: {compile_s:.1f} s", flush=True)
        records = evaluate_all(arguments, context, chosen, builds)
        seconds = time.monotonic() - begun
    with open(arguments.out, "w", encoding="utf-8") as file:
        json.dump({"mode": arguments.mode, "seconds": seconds, "compile_s": compile_s, "compiled": compiled,
                   "chosen": len(chosen), "records": records}, file, indent=1)


def architecture_of_gpu():
    set_architecture()
    return os.environ["TORCH_CUDA_ARCH_LIST"]


if __name__ == "__main__":
    main()
