"""The queue of searches: jobs of regions in the store, with profiles of the regions' inputs, and budgets."""

import math
import operator

import torch

from . import core, graphs

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
    """Profile for drawing similar inputs: {"low", "high"} of integers, with "ascending" if they do not fall along
    that dimension, and "mark" if one negative number stands for no index; {"mean", "std", "low"} of floating-point
    numbers; None if nothing is known."""
    if not isinstance(value, torch.Tensor) or value.dtype == torch.bool or value.is_complex() or not value.numel():
        return None
    if not value.dtype.is_floating_point:
        low = int(value.min())
        found = {"low": low, "high": int(value.max()), **(mark_of(value, low) if low < 0 else {})}
        dimension = ascending_dimension(value)
        return found if dimension is None else {**found, "ascending": dimension}
    wide = value.detach().float()
    found = {"mean": float(wide.mean()), "std": float(wide.std(correction=0)), "low": float(wide.min())}
    return found if all(map(math.isfinite, found.values())) else None


def mark_of(value, mark):
    """{"mark": {"value", "share"}, "low"} of integers if `mark`, their lowest, is the only negative one, as among
    targets that a loss ignores; "low" is the lowest of the others. Else {}."""
    negative = value < 0
    count = int(negative.sum())
    if count == value.numel() or int(value[negative].max()) != mark:
        return {}
    return {"mark": {"value": mark, "share": count / value.numel()}, "low": int(value[~negative].min())}


def ascending_dimension(value):
    """The last dimension along which integers never fall, as offsets of bags; None if there is none."""
    for dimension in reversed(range(value.dim())):
        pairs = value.shape[dimension] - 1
        if pairs > 0 and bool((value.narrow(dimension, 1, pairs) >= value.narrow(dimension, 0, pairs)).all()):
            return dimension
    return None


class Profiled(torch.fx.Interpreter):
    """Runs a graph's operators one by one, without the copies into its inputs, and takes profiles of `names` into
    `found`. What cannot run so, such as an operator that writes, and what reads its result, is left out; `why` is the
    first reason."""

    def __init__(self, gm, names, found):
        super().__init__(gm)
        self.names, self.found, self.why, self.missing = names, found, "", set()

    def run_node(self, node):
        if node.target is torch.ops.aten.copy_.default:
            return self.env[node.args[0]]
        if node.op != "output" and self.missing.isdisjoint(node.all_input_nodes):
            try:
                if node.target is not operator.getitem and graphs.writes(node):
                    raise RuntimeError(f"{node.target} writes")
                result = super().run_node(node)
                if node.name in self.names:
                    self.found.setdefault(node.name, profile_of(result))
                return result
            except Exception as error:
                self.why = self.why or str(error)
        self.missing.add(node)
        return None


def seconds_of(budget):
    if isinstance(budget, (int, float)):
        return float(budget)
    number = budget.rstrip("abcdefghijklmnopqrstuvwxyz ")
    unit = budget[len(number):].strip()
    try:
        return float(number) * UNITS[unit or "s"]
    except (ValueError, KeyError):
        raise ValueError(f"budget={budget!r} is not a time: give seconds, or a text such as '10min' or '90s'") from None
