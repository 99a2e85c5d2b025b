"""What check_gpu_constants.py finds, and that this tree has none."""

import importlib.util
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location("check_gpu_constants", os.path.join(ROOT, "scripts", "check_gpu_constants.py"))
constants = importlib.util.module_from_spec(spec)
spec.loader.exec_module(constants)

TEXT = """// an H200 has 132 multiprocessors
if (gpu.capability >= 90 && blocks == 528)
  options = "sm_90a";
constexpr double kBytesPerMicrosecond = 3.5e6, kShare = 0.5;
const int most = std::min(227 * 1024, 48 * 1024);
const int capability = 10 * major + minor; /* 1056 */
"""


class Constants(unittest.TestCase):
    def test_what_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.cpp"), "w", encoding="utf-8") as file:
                file.write(TEXT)
            root, constants.ROOT = constants.ROOT, folder
            try:
                found = [one.split(": ")[:2] for one in constants.findings(["a.cpp"])]
            finally:
                constants.ROOT = root
        self.assertEqual(found, [["a.cpp:2", "a compute capability"], ["a.cpp:2", "a number of multiprocessors"], ["a.cpp:3", "a compile target"],
                                 ["a.cpp:4", "a speed"], ["a.cpp:5", "a size of shared memory"]])

    def test_this_tree_has_none(self):
        self.assertEqual(constants.main(), 0)


if __name__ == "__main__":
    unittest.main()
