"""Keeps a runner busy with candidates and counts what comes back: the half of the throughput benchmarks that is ours.

Each candidate is new to every cache (a note in its text) and goes the whole way: compile, all
checks of the verifier with hidden sizes and the fp64 twin, measurement of candidate and reference
in pairs. Standard library only.
"""
import collections
import concurrent.futures
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import candidates  # noqa: E402
from runner_client import RpcError, verdict_of  # noqa: E402


def is_evaluated(verdict):
    """Correct by every check, and measured: what counts as one candidate."""
    return verdict["outcome"] == "verified" and "speedup" in verdict


def pump(runner, salt, device, outstanding, seconds, budget_ms, families=tuple(candidates.FAMILIES), limit=None):
    """Submits for `seconds` (or `limit` candidates), then waits for what is under way.

    Returns {"records": [{"variant", "end_s", "outcome", "counts", "ratio", "samples", "host", "gpu"}], "submitted"}, end_s
    from the first submission.
    """
    variants = candidates.variants(families)
    tasks = {family: candidates.task_of(family) for family in families}
    options = {"measure_budget_ms": budget_ms, "timeout_ms": 60_000, **({"device": device} if device else {})}
    records, pending, begun = [], {}, time.monotonic()
    while True:
        more = time.monotonic() - begun < seconds and (limit is None or len(records) + len(pending) < limit)
        while more and len(pending) < outstanding and (limit is None or len(records) + len(pending) < limit):
            family, block, items = next(variants)
            note = f"{salt} {len(records) + len(pending)} {time.monotonic_ns()}"
            plan = candidates.plan_of(family, block, items, note)
            future = runner.send("verify", {"task": tasks[family], "plan": plan, "options": options})
            pending[future] = (family, block, items)
        if not pending:
            return records
        done, _ = concurrent.futures.wait(pending, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            records.append(record_of(pending.pop(future), future, time.monotonic() - begun))
        if time.monotonic() - begun > seconds + 120:
            return records


def record_of(variant, future, end_s):
    record = {"variant": list(variant), "end_s": round(end_s, 4), "counts": False, "outcome": "no verdict", "message": ""}
    try:
        verdict = verdict_of(future.result())
    except RpcError as error:
        record["message"] = str(error)
        return record
    record.update({"outcome": verdict["outcome"], "message": verdict["message"], "counts": is_evaluated(verdict),
                   "gpu": verdict["device"].get("identifier", "")})
    if "speedup" in verdict:
        record.update({"ratio": verdict["speedup"]["ratio"], "samples": verdict["speedup"]["samples"]})
    return record


def rate_in_window(records, begin_s, end_s):
    """Candidates a minute that came back between the two; begin while the pipeline fills is left out."""
    inside = sum(1 for record in records if record["counts"] and begin_s < record["end_s"] <= end_s)
    return 60 * inside / (end_s - begin_s)


def tell_failures(records):
    lost = collections.Counter(f"{r['outcome']}: {r['message'][:160]}" for r in records if not r["counts"])
    for text, count in lost.most_common(5):
        print(f"  {count} did not count: {text}", flush=True)
