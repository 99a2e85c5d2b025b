"""Main program of a trace: `python3 trace_host.py`.

The program reads JSON-RPC requests from stdin, `trace` {modules}, until stdin ends, and writes the
answers to stdout: {traces}, with {graph, buffers, call, torch} or {refusal: one sentence} for each
module. It imports torch before it reads a request, which may come much later. The user's code runs
in this process, which starts in its enclosure (docs/operate/isolation.md); the runner sends a
second request only if all modules do nothing but call operators. Thread: one.
"""

import contextlib
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import process_messages
import worker_process


def answer_of(module):
    from trace import trace_module

    try:
        traced = trace_module(module["source"], module.get("model", "Model"), module.get("inputs", "get_inputs"),
                              module.get("init_inputs", "get_init_inputs"), module.get("mode", "made"),
                              module.get("language", "python"), module.get("files"), module.get("path", ""))
    except BaseException as error:  # a Refusal, or any error of the user's code
        import traceback

        if type(error).__name__ != "Refusal":
            traceback.print_exc()
            return {"refusal": f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"}
        return {"refusal": str(error)}
    import torch

    return dict(traced, torch=torch.__version__)


def main():
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the user's code must not go to the protocol's stream
    worker_process.require_torch()
    worker_process.prepare_environment()
    with contextlib.suppress(ImportError):  # on this error, answer_of() refuses
        import tracing.attempts
    while (request := process_messages.read_message(sys.stdin.buffer)) is not None:
        answers = [answer_of(module) for module in request["params"]["modules"]]
        body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"traces": answers}}, allow_nan=False).encode()
        out.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        out.flush()
    return 0


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)
