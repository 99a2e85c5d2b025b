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

    def test_a_folder_of_the_generator_is_one_namespace_of_its_own(self):
        files = {"generator/ops/a.h": "namespace w::ops {\n}\n", "generator/ops/b.cpp": "namespace w::ops::table {\n}\nnamespace warpwright::op {\n}\n",
                 "generator/rewrites/c.h": "namespace w::ops {\n}\n", "generator/search/d.h": "namespace w::search {\n}\nnamespace w::other {\n}\n",
                 "server/e.h": "namespace w::a {\n}\nnamespace w::b {\n}\n"}
        self.assertEqual(self.in_tree(files, lambda all_files: list(arrows.shared_namespaces(all_files))),
                         ["generator/ops and generator/rewrites share the namespace w::ops",
                          "generator/search is more than one namespace: w::other, w::search"])

    def test_folders_that_include_each_other_are_found(self):
        files = {"runner/verify/a.h": '#include "runner/measure/b.h"\n', "runner/measure/b.h": '#include "runner/cuda/c.h"\n',
                 "runner/cuda/c.h": '#include "runner/verify/a.h"\n', "runner/deep/d.cpp": '#include "runner/cuda/c.h"\n'}
        self.assertEqual(self.in_tree(files, arrows.circles), [{"runner/verify", "runner/measure", "runner/cuda"}])

    def test_one_family_may_not_use_another(self):
        files = {"generator/families/scan/scan.cpp": '#include "generator/families/scan/scan.h"\n'
                                                     '#include "generator/families/rows/rows.h"\n'
                                                     '#include "generator/elements/family.h"\n',
                 "generator/families/registry.cpp": '#include "generator/families/rows/rows.h"\n'}
        self.assertEqual(self.in_tree(files, arrows.breaks), ["generator/families/scan/scan.cpp -> generator/families/rows/rows.h"])

    def test_rows_folders_and_groups_of_the_table(self):
        table = self.table("| deep | `a/b/` `a/c.h` | | nothing |", "| a | `a/` | | deep |", "| *all* | | | a, deep |",
                           "| kinds/NAME | `kinds/NAME/` | | all |", "| kinds | `kinds/` | | all, kinds/NAME |")
        self.assertEqual([table.row_of(file)[1] for file in ("a/b/x.h", "a/c.h", "a/d.h", "kinds/x/y.h", "kinds/z.h", "e.h")],
                         ["deep", "deep", "a", "kinds/x", "kinds", None])
        self.assertTrue(table.allows("a/d.h", "a/b/x.h"))
        self.assertFalse(table.allows("a/b/x.h", "a/d.h"))
        self.assertTrue(table.allows("kinds/x/y.h", "a/c.h"))
        self.assertFalse(table.allows("kinds/x/y.h", "kinds/z/y.h"))
        self.assertTrue(table.allows("kinds/z.h", "kinds/x/y.h"))

    def test_a_malformed_table_is_refused_with_its_line(self):
        a = "| a | `a/` | | nothing |"
        for rows, message in (((a, a), "line 5: the name a stands twice"), (("| a | `a/` | nothing |",), "line 4: 3 cells, not 4"),
                              (("| a | a/ | | nothing |",), "line 4: the files of a must be paths in backquotes"),
                              (("| a | `a/` | | b |",), "line 4: there is no place or group b"),
                              (("| a | `a/` | | |",), "line 4: a must say which places it may use"),
                              ((a, "| *g* | | | g |"), "line 5: the group g is made of itself"),
                              (("| a | `a/NAME/` | | nothing |",), "line 4: NAME must stand once"), (("text",), "line 4: not a row"), ((), "line 2: the table must begin")):
            with self.assertRaises(arrows.TableError) as caught:
                self.table(*rows)
            self.assertIn(message, str(caught.exception))
        for text in ("", f"{arrows.END}\n{arrows.BEGIN}", f"{arrows.BEGIN}\n{arrows.BEGIN}\n{arrows.END}"):
            with self.assertRaisesRegex(arrows.TableError, "the table of arrows must stand between"):
                arrows.Arrows(text)

    @staticmethod
    def table(*rows):
        return arrows.Arrows("\n".join([arrows.BEGIN, "| place | files | holds | may use |", "|---|---|---|---|", *rows, arrows.END]))

    def test_this_tree_has_no_new_break(self):
        self.assertEqual(arrows.main(), 0)


if __name__ == "__main__":
    unittest.main()
