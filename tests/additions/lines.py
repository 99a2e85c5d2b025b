"""What each addition writes: lines before an anchor in files of the tree, and new files, which stand under files/ by their paths."""
import collections

# goal: how many files it may touch; a folder that is new counts once. lines: {path: [(anchor, text that goes before it)]}.
# target: what is built; arguments: which of its cases prove the addition.
Addition = collections.namedtuple("Addition", "name goal files lines target arguments")

POINTWISE = '''    floating("rad2deg", formula([](auto x) { return x * 57.29577951308232; }), nullptr, {}, Cheap)
        .judged_by([](double x) { return x * 180 / std::numbers::pi; })
        .gives("degrees of x radians"),
'''
REDUCTION = '''    expanding(reduction("nansum", Reduction::None, infer::floating_reduction, library::reduction)
                  .for_example("%y: f32[2,8,9] = nansum(%x) {dims=[1]}")
                  .gives("sum along {dims} of what is a number"),
              [](Expander &out, const Node &node,
                 const model::TensorType &x) -> Result<std::vector<std::string>> {
                const std::string &value = node.inputs[0];
                const std::string is_nan = out.comparison("ne", {value, value}, x.shape);
                const std::string numbers = out.op("where", {is_nan, out.constant(0), value}, x.shape);
                const model::Shape dims = reduced_dims(node, x.shape.size());
                out.finish("reshape", {out.reduce("sum", numbers, x.shape, dims)});
                return {};
              }),
'''
REDUCTION_TWIN = '''  if (op == "nansum") {
    double sum = 0;
    for (const double value : values)
      sum += std::isnan(value) ? 0 : value;
    return sum;
  }
'''
VIEW = '''ViewSource channel_shuffle_source(symbolic::IndexMath &math, const Node &node, const Shape &operand, const Lanes &lanes) {
  const std::int64_t groups = integer_attribute(node, "groups");
  return {each(lanes, [&](const auto &lane, auto &index) {
    index[1] = math.add(math.scale(math.modulo(lane[1], groups), operand[1] / groups), math.divide(lane[1], groups));
  })};
}

'''
VIEW_ROW = '''    moving(view("channel_shuffle", infer::unary, channel_shuffle_source, nullptr, {{"groups", Integer}})
               .for_example("%y: f32[2,6,8,9] = channel_shuffle(%x) {groups=3}")
               .gives("channel c is the operand's c / groups of group c % groups")),
'''
VIEW_TWIN = '''  if (op == "channel_shuffle") {
    const std::int64_t groups = ops::integer_attribute(node, "groups"), size = x.shape[1] / groups;
    return rearranged(x, x.shape, [&](model::Shape index) -> Source {
      index[1] = index[1] % groups * size + index[1] / groups;
      return index;
    });
  }
'''
GENERATION = '    {121, 99 * kKiB, 100 * kKiB, 1536, TensorCores::Example, true, true, false, true, true},\n'
OWN_TEXT = '''    {arch::TensorCores::Example, "warpwright_mma_example",
#include "generator/device/mma_example.cuh.inc"
    },
'''

ADDITIONS = [
    Addition("a pointwise operator", 1, [], {"generator/ops/table/pointwise.cpp": [('    floating("expm1",', POINTWISE)]},
             "operator_tests", ["--test-case=Each pointwise*"]),
    Addition("a reduction", 2, [],
             {"generator/ops/table/reductions.cpp": [('#include "generator/ops/infer.h"', '#include "generator/ops/attributes.h"\n'),
                                                     ('    scan("cumsum"', REDUCTION)],
              "tests/generator/graph_interpreter_rows.cpp": [('  if (op == "mean")', REDUCTION_TWIN)]},
             "operator_tests", ["--test-case=The example of each*"]),
    Addition("a view", 2, [],
             {"generator/ops/table/views.cpp": [("Lanes flip_result(", VIEW), ('    moving(view("flip"', VIEW_ROW)],
              "tests/generator/graph_interpreter_views.cpp": [('  if (op == "permute")', VIEW_TWIN)]},
             "operator_tests", ["--test-case=The example of each*"]),
    # Its file, its line in the registry, its test and its row in the document.
    Addition("a move", 4, ["generator/text/moves/internal_linkage.cpp", "tests/generator/moves/internal_linkage_test.cpp"],
             {"generator/text/moves/registry.cpp": [("  MOVE(restrict_const,", "  MOVE(internal_linkage, false, \"internal linkage\", \"\") \\\n")],
              "docs/internals/moves.md": [("| `restrict_const()`", "| `internal_linkage()` | `static` |\n")]},
             "generator_tests", ["--test-case=internal_linkage*"]),
    # Its folder, its line in the registry and its test; the include is part of that line.
    Addition("a family", 3, ["generator/families/ordered_scatter/ordered_scatter.h", "generator/families/ordered_scatter/ordered_scatter.cpp",
                             "tests/generator/families/ordered_scatter_test.cpp"],
             {"generator/families/registry.cpp": [("#include \"generator/families/windows/pool.h\"",
                                                   "#include \"generator/families/ordered_scatter/ordered_scatter.h\"\n"),
                                                  ("      convolution::kWeightLayoutsFamily,", "      ordered_scatter::kOrderedScatterFamily,\n")]},
             "family_ordered_scatter_test", []),
    # Its row in arch, its header, and a line each in matmul and convolution.
    Addition("a tensor-core generation", 4, ["generator/device/mma_example.cuh"],
             {"arch/generations.h": [(" };\n\ninline constexpr int kKiB", ", Example"),
                                     ("    // Later generations", GENERATION), ("};\n\n} // namespace", '    {"example", 121, 48, 24},\n')],
              "generator/families/matmul/matmul_split_tf32.cpp": [("};\n\nconstexpr std::string_view kKernel", OWN_TEXT)],
              "generator/families/convolution/convolution_kernel.cpp": [("};\n\nconstexpr std::string_view kOwnProduct", OWN_TEXT)]},
             "warpwright-graph", None),
]
