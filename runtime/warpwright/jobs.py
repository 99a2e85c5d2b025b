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
    """Profile for drawing similar inputs: {"mean", "std", "low", "high"} of floating-point numbers, the {"share"} of
    true ones, or of integers {"low", "high"} with what else was seen of them; None if nothing is known."""
    if not isinstance(value, torch.Tensor) or value.is_complex() or not value.numel():
        return None
    if value.dtype == torch.bool:
        return {"share": float(value.float().mean())}
    if not value.dtype.is_floating_point:
        return profile_of_integers(value)
    wide = value.detach().float()
    found = {"mean": float(wide.mean()), "std": float(wide.std(correction=0)), "low": float(wide.min()), "high": float(wide.max())}
    return found if all(map(math.isfinite, found.values())) else None


def profile_of_integers(value):
    """{"low", "high"}, and where they apply:

    - "values" with their "shares", if few integers of the range occur, often, as labels with one for "ignore";
    - "mark" {"value", "share"}, if the only negative number stands for no index; "low" is then the lowest other one;
    - "ascending": a dimension along which they do not fall;
    - "distinct": a dimension along which none occurs twice, as in a permutation; -1: none does in the whole tensor
    """
    low, high = int(value.min()), int(value.max())
    found = {"low": low, "high": high, **(values_of(value, low, high) or (mark_of(value, low) if low < 0 else {}))}
    dimensions = {"ascending": ascending_dimension(value), "distinct": distinct_dimension(value, high - found["low"] + 1)}
    return {**found, **{name: one for name, one in dimensions.items() if one is not None}}


def values_of(value, low, high, most=256):
    """{"values", "shares"} of integers that repeat, if at most `most` of those between the ends occur; else {}."""
    values, counts = value.unique(return_counts=True)
    if len(values) > min(most, value.numel() // 4) or len(values) == high - low + 1:
        return {}
    return {"values": values.tolist(), "shares": [one / value.numel() for one in counts.tolist()]}


def mark_of(value, mark):
    """{"mark", "low"} of integers if `mark`, their lowest, is the only negative one; else {}."""
    negative = value < 0
    count = int(negative.sum())
    if count == value.numel() or int(value[negative].max()) != mark:
        return {}
    return {"mark": {"value": mark, "share": count / value.numel()}, "low": int(value[~negative].min())}


def ascending_dimension(value):
    """The last dimension along which integers never fall, as offsets of bags; None if there is none."""
    for dimension in reversed(range(value.dim())):
        if value.shape[dimension] > 1 and holds_for_pairs(operator.ge, value, dimension):
            return dimension
    return None


def holds_for_pairs(relation, value, dimension):
    """Whether a relation holds between each integer and the one before it along a dimension."""
    pairs = value.shape[dimension] - 1
    return bool(relation(value.narrow(dimension, 1, pairs), value.narrow(dimension, 0, pairs)).all())


def distinct_dimension(value, span, most=2**20):
    """-1 if no integer occurs twice, else the last dimension along which none does; None if there is none, if `span`
    integers are too few to draw from, or if drawing would take over `most` of them."""
    for dimension in (-1, *(reversed(range(value.dim())) if value.dim() > 1 else ())):
        row = value.flatten() if dimension < 0 else value
        length = row.shape[dimension]
        if not 2 <= length <= span or value.numel() // length * span > most:
            continue
        if holds_for_pairs(operator.ne, row.sort(dimension).values, dimension):
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
