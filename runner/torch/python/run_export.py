"""One call of an exported ModelNew in this Python, as in a user's program:
`python3 run_export.py FILE made|eval|train`.

The program prints one line of JSON: {"runs", "fallbacks"}, the export's counts of calls that its
kernels answered and of calls that the user's forward answered, by reason; {"unknown"}, the reason
why no call was possible here; or {"failed"}, the error of the file. The file runs with this
process's rights, so use the program only for files that the caller would run anyway. Thread: one.
"""

import contextlib
import json
import sys
import types
import warnings

SEED = 42


def mapped(value, function):
    import torch

    if torch.is_tensor(value):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(one, function) for one in value)
    return value


def counts_of(path, mode):
    import torch

    if not torch.cuda.is_available():
        return {"unknown": "there is no CUDA GPU"}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    module = types.ModuleType("exported")
    module.__file__ = path
    sys.modules[module.__name__] = module
    warnings.simplefilter("ignore")
    exec(compile(text, path, "exec"), module.__dict__)
    plan = module.ModelNew.warpwright_plan
    torch.manual_seed(SEED)
    given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    model = module.ModelNew(**given) if isinstance(given, dict) else module.ModelNew(*given)
    model = model.cuda() if mode == "made" else model.cuda().train(mode == "train")
    with torch.device("cuda") if hasattr(torch, "set_default_device") else contextlib.nullcontext():
        inputs = [mapped(one, lambda tensor: tensor.cuda()) for one in module.get_inputs()]
    with torch.no_grad():
        model(*inputs)
    torch.cuda.synchronize()
    return {"runs": plan.runs(), "fallbacks": plan.fallbacks()}


def main():
    try:
        found = counts_of(*sys.argv[1:3])
    except Exception as error:  # the file may raise anything
        short = "memory" in str(error).lower()
        found = {"unknown" if short else "failed": f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
