"""The queue of searches: a job in the store for each region, with what its inputs are drawn like."""

import math

import torch

from . import core


def queue(regions, place, values=None):
    """Writes a job for each region that has no plan, or completes it.

    @param values the graph's inputs at a real call, by name; None: no call is known, and only a later one tells what inputs are like
    @return keys of the regions that nobody searched yet
    """
    waiting = []
    for region in regions:
        job = None if region["has_plan"] else core.ask("read", kind="job", key=region["key"], **place)["record"] or {}
        if job is None or "searched" in job:
            continue
        waiting.append(region["key"])
        wanted = {"program": region["program"], "sizes": region["sizes"], "profile": None, **job}
        if values is not None and wanted["profile"] is None:
            wanted["profile"] = [profile_of(values.get(border["name"])) for border in region["inputs"]]
        if wanted != job:
            core.ask("write", kind="job", key=region["key"], record=wanted, **place)
    return waiting


def profile_of(value):
    """What inputs are drawn like: {"low", "high"} of integers, {"mean", "std", "low"} of others; None: nothing is known."""
    if not isinstance(value, torch.Tensor) or value.dtype == torch.bool or value.is_complex() or not value.numel():
        return None
    if not value.dtype.is_floating_point:
        return {"low": int(value.min()), "high": int(value.max())}
    wide = value.detach().float()
    found = {"mean": float(wide.mean()), "std": float(wide.std(correction=0)), "low": float(wide.min())}
    return found if all(map(math.isfinite, found.values())) else None
