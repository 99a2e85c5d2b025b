"""Paths of this interpreter and its packages, as JSON on stdout:
`python3 interpreter_paths.py [FOLDER]`.

The runner starts this program without any code of a task, before it starts a worker with this
interpreter (runner/torch/python_programs.h). The worker can then see the reported paths. With
FOLDER, the program also compiles the extension that calls candidates (warpwright_runtime) there,
unless it exists. Thread: the main thread.
"""

import json
import os
import site
import sys
import sysconfig

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != HERE]


def paths():
    found = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.path.abspath(sys.executable)),
             os.path.dirname(os.path.realpath(sys.executable)), *sysconfig.get_paths().values(), *sys.path, *site.getsitepackages()]
    return sorted({os.path.abspath(path) for path in found if path and os.path.exists(path)})


def main():
    told = {"executable": os.path.abspath(sys.executable), "paths": paths()}
    if len(sys.argv) > 1:
        sys.path.insert(0, HERE)
        import worker_process

        worker_process.build_direct_call(sys.argv[1])
    print(json.dumps(told))


if __name__ == "__main__":
    main()
