"""The queue of searches: jobs of regions in the store, with profiles of the regions' inputs, and budgets."""

import math

import torch

from . import core

UNITS = {"s": 1, "sec": 1, "min": 60, "m": 60, "h": 3600}


def queue(regions, place, profiles=None):
    """Writes a job for each region without a plan, or adds the profile that a job lacks.

    @param profiles () -> profiles of the values that regions read in a real call, by name, as profile_of() gives
        them; not called if no job lacks one. None: jobs get no profile yet
    @return keys of the regions that have not been searched yet
    """
    waiting, known = [], None
    for region in regions:
        job = None if region["has_plan"] else core.ask("read", kind="job", key=region["key"], **place)["record"] or {}
        if job is None or "searched" in job:
            continue
        waiting.append(region["key"])
        wanted = {"program": region["program"], "sizes": region["sizes"], "profile": None, **job}
        if profiles is not None and wanted["profile"] is None:
            known = profiles() if known is None else known
            wanted["profile"] = [known.get(border["name"]) for border in region["inputs"]]
        if wanted != job:
            core.ask("write", kind="job", key=region["key"], record=wanted, **place)
    return waiting


def profile_of(value):
    """Profile for drawing similar inputs: {"low", "high"} of integers, {"mean", "std", "low"} of
    floating-point numbers; None if nothing is known."""
    if not isinstance(value, torch.Tensor) or value.dtype == torch.bool or value.is_complex() or not value.numel():
        return None
    if not value.dtype.is_floating_point:
        return {"low": int(value.min()), "high": int(value.max())}
    wide = value.detach().float()
    found = {"mean": float(wide.mean()), "std": float(wide.std(correction=0)), "low": float(wide.min())}
    return found if all(map(math.isfinite, found.values())) else None


def seconds_of(budget):
    if isinstance(budget, (int, float)):
        return float(budget)
    number = budget.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = budget[len(number):].strip()
    try:
        return float(number) * UNITS[unit or "s"]
    except (ValueError, KeyError):
        raise ValueError(f"budget={budget!r} is not a time: give seconds, or a text such as '10min' or '90s'") from None
