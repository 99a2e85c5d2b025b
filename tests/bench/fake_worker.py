#!/usr/bin/env python3
"""Speaks the runner's protocol and computes nothing: its verdicts hold numbers drawn from a seed.

For the tests of the benchmarks. Without arguments it is a CPU worker (WARPWRIGHT_CPU_WORKER of a real service); with
`serve` or `worker --device NAME` it stands for warpwright-runner on a machine with GPUs, and writes a trace where
$WARPWRIGHT_TRACE asks for one. A kernel takes 2 us plus what 8 bytes an element take at 4 TB/s, within 0.2%; its time
stamps lie 500 ns further apart. Candidates that fault (as in bench/honesty/latency.py) are called crashed.
"""
import json
import os
import random
import sys

GPUS = 2
BRACKET_NS = 500
L2_BYTES = 1 << 25


def device(kind, number=0):
    return {"kind": kind, "name": "Imaginary", "identifier": f"GPU-{number}" if kind == "cuda" else "",
            "compute_capability": "9.0" if kind == "cuda" else "", "driver": "none", "host": "nowhere",
            "memory_bytes": 1 << 34, "l2_bytes": L2_BYTES}


def read_message():
    length = None
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return None if length is None else json.loads(sys.stdin.buffer.read(length))


def write_message(message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def time_of(nanoseconds, kind):
    time = {"median_ns": nanoseconds + BRACKET_NS, "low_ns": nanoseconds * 0.999, "high_ns": nanoseconds * 1.001, "samples": 30}
    return time if kind == "cpu" else {**time, "kernel_ns": nanoseconds}


def write_trace(params, nanoseconds):
    """Thirty cold launches, one that follows no flush, and one outside a graph."""
    kernel = params["plan"]["steps"][0]["launch"]["kernel"]
    with open(os.environ["WARPWRIGHT_TRACE"], "a", encoding="utf-8") as file:
        now = os.fstat(file.fileno()).st_size * 10 ** 9
        for launch in range(32):
            if launch != 30:
                file.write(f"M {now} {now + 100} {2 * L2_BYTES}\n")
            file.write(f"K {now + 200} {now + 20200} 0 ww_delay\n")
            file.write(f"K {now + 30000} {now + 30000 + int(nanoseconds) * (1 if launch < 30 else 9)} "
                       f"{0 if launch == 31 else 7} {kernel}\n")
            now += 10 ** 7


def verdict_of(params, draw, kind):
    product = 1
    for size in params["task"]["sizes"].values():
        product *= size
    reference = (2000 + product * 8 / 4000) * draw.uniform(0.998, 1.002)
    candidate = reference * draw.uniform(0.998, 1.002)
    ratio = reference / candidate
    here = device(kind, draw.randrange(GPUS))
    verdict = {"outcome": "verified", "message": "correct, and measured", "device": here, "kernels": [],
               "reference_kernels": [], "checks": [], "errors": {}, "discarded_samples": 0, "measured_sizes": "n",
               "date": "2026-11-21T00:00:00Z", "task_hash": "0" * 64, "plan_hash": "0" * 64}
    if any(text in params["plan"]["source"] for text in ("1ll << 40", "__trap", "while (x")):
        verdict["outcome"] = "crash"
    elif params.get("options", {}).get("measure", True):
        verdict.update({"reference_time": time_of(reference, kind), "candidate_time": time_of(candidate, kind),
                        "speedup": {"ratio": ratio, "low": ratio * 0.997, "high": ratio * 1.003, "samples": 30,
                                    "device": here["name"]}})
        if "WARPWRIGHT_TRACE" in os.environ:
            write_trace(params, candidate)
    return verdict


def adversary():
    cases = [{"name": name, "family": family, "refused": refused, "as_expected": True, "expected": "", "outcome": ""}
             for name, family, refused in (("a", "memory", True), ("b", "time", True), ("c", "honest", False))]
    json.dump({"device": device("cuda"), "cases": cases, "skipped": []}, sys.stdout)


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    if mode == "adversary":
        return adversary()
    if mode == "devices":
        return json.dump({"devices": [device("cuda", number) for number in range(GPUS)]}, sys.stdout)
    kind = "cpu" if mode == "cpu" else "cuda"
    draw = random.Random(7)
    while (message := read_message()) is not None:
        if message.get("method") == "info" and mode == "serve":
            result = {"version": "0", "devices": [device(kind, number) for number in range(GPUS)],
                      "names": [f"cuda:{number}" for number in range(GPUS)], "notes": []}
        elif message.get("method") == "info":
            result = device(kind)
        elif message.get("method") == "verify":
            result = verdict_of(message["params"], draw, kind)
            if mode != "serve":
                result = {"verdict": result, "device_lost": False}
        else:
            continue
        write_message({"jsonrpc": "2.0", "id": message["id"], "result": result})


if __name__ == "__main__":
    main()
