#!/usr/bin/env python3
"""The op graph of a torch module (docs/internals/op-graph.md) as JSON.

    python3 trace.py FILE [--model Model] [--inputs get_inputs] [--init-inputs get_init_inputs]
                     [--mode made|eval|train]

The worker calls `trace_module`. Modules and inputs consist of fake tensors, so that a trace needs
little memory. If the constructor, the inputs or forward read values, the module or the inputs
become real; the forward pass is still fake.
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def trace_module(source, model="Model", inputs="get_inputs", init_inputs="get_init_inputs", mode="made",
                 language="python", files=None, path=""):
    """Traces a module.
    @param source text of the Python file. If `language` is "cpp", text of a C++ file; `model` is
        then a function over tensors, or "struct NAME" of a torch::nn::Module
    @param mode "made" (as the constructor leaves the module), "eval" or "train"
    @param inputs, init_inputs names of functions in the file, or expressions over `torch`, that
        give the lists
    @param files, path other files of the project, by path, and the path of the file itself
    @return {"graph": ..., "buffers": [{"name", "torch_name", "dtype", "shape", "direction"}],
        "call": ...}
    @raise tracing.errors.Refusal with one sentence for the user"""
    try:
        from tracing.attempts import traced
    except ImportError as error:
        from tracing.errors import Refusal
        raise Refusal("this Python (%s) has no torch to trace with: %s" % (sys.executable, error))
    return traced(language, source, model, inputs, init_inputs, mode, files, path)


def main():
    parser = argparse.ArgumentParser(description="Prints the op graph of a torch module as JSON.")
    parser.add_argument("file")
    parser.add_argument("--model", default="Model")
    parser.add_argument("--inputs", default="get_inputs")
    parser.add_argument("--init-inputs", default="get_init_inputs")
    parser.add_argument("--mode", choices=("made", "eval", "train"), default="made", help="as made, .eval() or .train()")
    options = parser.parse_args()
    from tracing.errors import Refusal
    try:
        with open(options.file, encoding="utf-8") as file:
            result = trace_module(file.read(), options.model, options.inputs, options.init_inputs, options.mode)
    except (Refusal, OSError) as error:
        print("%s: %s" % (options.file, error), file=sys.stderr)
        return 1
    json.dump(result, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
