#!/usr/bin/env python3
"""What the text says that C++ functions compute is what the compiled functions are seen to do.
Usage: compiled_test.py FOLDER_OF_PYTHON DUMP_PROGRAM FILE [unittest's arguments]

The file is compiled once against this Python's LibTorch (about half a minute); every function and module is then traced as a runner does
it, and the graph compared with the one that the dump program read from the text, node for node from the results down.
"""

import hashlib
import json
import subprocess
import sys
import unittest

try:
    import torch  # noqa: F401
except ImportError:
    print("all cases skipped: this Python has no torch")
    sys.exit(0)

FOLDER, DUMP, FILE = sys.argv[1:4]
del sys.argv[1:4]
sys.path.insert(0, FOLDER)
import cpp_module
from trace import trace_module

with open(FILE, encoding="utf-8") as file:
    SOURCE = file.read()


def setUpModule():
    read = json.loads(subprocess.run([DUMP, FILE], check=True, capture_output=True, text=True).stdout)
    Graphs.read = read
    try:
        cpp_module.include_folders()
    except cpp_module.CppError as error:
        raise unittest.SkipTest(str(error))
    modules = [(name[len("struct "):], one["init_inputs"]) for name, one in read.items() if name.startswith("struct ")]
    if modules:
        cpp_module.load_classes(cpp_module.CppFile(SOURCE), modules)
    else:
        cpp_module.load_functions(cpp_module.CppFile(SOURCE), list(read))


def shown(graph):
    return "\n".join(f"{node['name']} = {node['op']}({', '.join(node['inputs'])}) {node['attributes']} {node['types'][0]['shape']}"
                     for node in graph["nodes"])


def number(value):
    """Whole numbers and others are one; booleans, words and lists stay."""
    if isinstance(value, dict):
        return value["number"]
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def meaning(graph):
    """Results and updates as nested values in which names and layouts do not count."""
    places = {node["name"]: node for node in graph["nodes"]}
    leaves = [node["name"] for node in graph["nodes"] if node["op"] == "input"]
    known = {}

    def of(name):
        if name not in known:
            node = places[name]
            if node["op"] == "expand" and places[node["inputs"][0]]["op"] == "constant":
                return of(node["inputs"][0])  # it broadcasts
            attributes = {key: number(value) for key, value in node["attributes"].items() if key != "torch_name"}
            if "values" in attributes:
                attributes["values"] = json.loads(attributes["values"])
            types = [(one["dtype"], tuple(one["shape"])) for one in node["types"]]
            which = leaves.index(name) if node["op"] == "input" else \
                node["attributes"]["torch_name"] if node["op"] == "parameter" else [of(one) for one in node["inputs"]]
            text = json.dumps([node["op"], sorted(attributes.items()), types, which])
            known[name] = hashlib.sha256(text.encode()).hexdigest()
        return known[name]

    return ([of(name) for name in graph["outputs"]],
            sorted((of(one["parameter"]), of(one["value"])) for one in graph.get("updates", [])))


class Graphs(unittest.TestCase):
    read = {}

    def test_every_function_is_followed(self):
        self.assertGreaterEqual(len(self.read), 3)
        for name, one in self.read.items():
            self.assertIn("graph", one, f"{name}: {one}")

    def test_text_and_compiled_function_compute_the_same(self):
        for name, one in self.read.items():
            if "graph" not in one:
                continue
            with self.subTest(name):
                traced = trace_module(SOURCE, name, one["inputs"], one["init_inputs"], one["mode"], "cpp")
                if meaning(one["graph"]) != meaning(traced["graph"]):
                    self.fail(f"the text says\n{shown(one['graph'])}\nand the function does\n{shown(traced['graph'])}")


if __name__ == "__main__":
    unittest.main()
