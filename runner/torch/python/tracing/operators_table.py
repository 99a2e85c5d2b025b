"""The generator's table of operators (generator/ops/table), which the build writes next to this file."""
import json
import os

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators.json"), encoding="utf-8") as file:
    OPERATORS = json.load(file)


def pointwise(operands, truth=False):
    """Names of pointwise operators with this number of operands and no attributes, without those of integers' bits.
    @param truth whether the operators give booleans"""
    return [name for name, op in OPERATORS.items()
            if op["kind"] == "pointwise" and op["operands"] == [operands, operands] and not op["attributes"]
            and op.get("truth", False) == truth and not op.get("integral")]
