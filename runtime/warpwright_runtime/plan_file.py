"""Plan files, `NAME.wwplan`: a verified plan next to the user's Python file, and the class decorator
that uses it.

A plan file is JSON: `plan` contains the lines of the dict that exported_plan.py takes, and `source`
the lines of the kernels' CUDA source. Plan files are only read. Thread: any.
"""

import ast
import hashlib
import json
import os
import sys
import warnings


class Floats(ast.NodeTransformer):
    """Replaces float("nan") and float("inf") by constants, because they are no literals of
    Python."""

    def visit_Call(self, node):
        if not isinstance(node.func, ast.Name) or node.func.id != "float" or len(node.args) != 1:
            raise ValueError("a plan holds literals only")
        return ast.copy_location(ast.Constant(float(ast.literal_eval(node.args[0]))), node)


def plan_of(record):
    """The plan of a record {"plan": text, "source": text}. @raise ValueError if the record is
    damaged or its source is not the verified one"""
    try:
        plan = ast.literal_eval(Floats().visit(ast.parse(record["plan"].strip(), mode="eval")))
    except SyntaxError as error:
        raise ValueError(f"the plan is damaged: {error}") from None
    if hashlib.sha256(record["source"].encode()).hexdigest() != plan["sha256"]:
        raise ValueError("its kernels are not the text that was verified")
    return dict(plan, source=record["source"])


def read(path):
    """The plan in a plan file. @raise OSError, ValueError"""
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    try:
        return plan_of({name: "\n".join(document[name]) for name in ("plan", "source")})
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a plan file: {error!r}") from None


def plans(path):
    """A class decorator: calls that fit the plan file run its kernels, and all other calls run the
    class's own forward.

    The decorator does not change the class's state, so copies, pickles and state dicts work as
    before. The attribute `warpwright_plan` of the class has the counts runs() and fallbacks().
    @param path relative to the folder of the file that defines the class, or absolute"""
    def decorate(kind):
        folder = os.path.dirname(os.path.abspath(getattr(sys.modules.get(kind.__module__), "__file__", None) or "file"))
        try:
            plan = read(os.path.join(folder, path))
        except (OSError, ValueError) as error:
            warnings.warn(f"{kind.__name__}: the verified kernels are not used, its own forward runs: {error}", RuntimeWarning, stacklevel=2)
            return kind
        from .exported_plan import ExportedPlan

        kind.warpwright_plan = ExportedPlan(plan, kind.__module__)
        kind.forward = kind.warpwright_plan.forward_of(kind.forward)
        return kind

    return decorate
