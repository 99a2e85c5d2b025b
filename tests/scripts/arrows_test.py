"""What check_arrows.py finds in a tree of its own, and that this tree has nothing new of it."""

import importlib.util
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location("check_arrows", os.path.join(ROOT, "scripts", "check_arrows.py"))
arrows = importlib.util.module_from_spec(spec)
spec.loader.exec_module(arrows)


class Arrows(unittest.TestCase):
    def in_tree(self, files, look):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            root, arrows.ROOT = arrows.ROOT, folder
            try:
                return look(sorted(files))
            finally:
                arrows.ROOT = root

    def test_an_include_against_the_arrows_is_found(self):
        files = {"generator/rewrites/fold.cpp": '#include "generator/ops/infer.h"\n#include "generator/families/matmul/matmul.h"\n',
                 "generator/families/matmul/matmul.cpp": '#include "generator/families/matmul/matmul.h"\n#include "generator/ops/infer.h"\n',
                 "support/text.cpp": '#include "server/pool.h"\n'}
        self.assertEqual(self.in_tree(files, arrows.breaks), ["generator/rewrites/fold.cpp -> generator/families/matmul/matmul.h",
                                                              "support/text.cpp -> server/pool.h"])

    def test_a_type_that_two_files_of_a_namespace_define_is_found(self):
        files = {"support/a.h": "namespace w::x {\nstruct Shape {\n  struct Part {};\n};\n}\n",
                 "support/b.h": "namespace w::x {\nclass Shape : Base {\n};\nstruct Other;\n}\n",
                 "support/c.cpp": "namespace w::x {\nnamespace {\nstruct Shape {};\n}\nstruct Shape::Part2 {};\ntemplate <class Shape> void f() {}\n}\n",
                 "support/d.h": "namespace w::y {\nstruct Shape {};\n}\n"}
        self.assertEqual(self.in_tree(files, arrows.twice_defined), {("w::x", "Shape"): ["support/a.h", "support/b.h"]})

    def test_folders_that_include_each_other_are_found(self):
        files = {"runner/verify/a.h": '#include "runner/measure/b.h"\n', "runner/measure/b.h": '#include "runner/cuda/c.h"\n',
                 "runner/cuda/c.h": '#include "runner/verify/a.h"\n', "runner/deep/d.cpp": '#include "runner/cuda/c.h"\n'}
        self.assertEqual(self.in_tree(files, arrows.circles), [{"runner/verify", "runner/measure", "runner/cuda"}])

    def test_every_place_has_arrows_and_names_places(self):
        self.assertEqual(set(arrows.PLACES), set(arrows.ARROWS))
        for place, used in arrows.ARROWS.items():
            self.assertLessEqual(set(used), set(arrows.PLACES), place)

    def test_this_tree_has_no_new_break(self):
        self.assertEqual(arrows.main(), 0)


if __name__ == "__main__":
    unittest.main()
