// Functors and the sum of partial results for the matmul family; see matmul_text.h.
#include "generator/families/matmul/matmul_text.h"

#include "generator/ops/attributes.h"

#include <algorithm>

namespace warpwright::generator {
namespace {

/// "4 * name + i" for whole groups of lanes, "name" for single ones.
std::string lane(const std::string &name, int wide, int i) {
  return wide == 1 ? name : "(" + std::to_string(wide) + " * " + name + "_group + " + std::to_string(i) + ")";
}

constexpr std::string_view kSum = R"cuda(
extern "C" __global__ void __launch_bounds__(256) @NAME@(@PARAMETERS@) {
  constexpr int kWide = @WIDE@;
  const long long item = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (item >= @ELEMENTS@ll / kWide)
    return;
  const int column = item % (@COLUMNS@ / kWide) * kWide;
  const int row = item / (@COLUMNS@ / kWide) % @ROWS@;
  const int batch = item / (@COLUMNS@ / kWide) / @ROWS@;
@STORE@
  @TYPE@ values[kWide] = {};
#pragma unroll 4
  for (int split = 0; split < @SPLITS@; ++split)
#pragma unroll
    for (int i = 0; i < kWide; ++i)
      values[i] += partial[split * @ELEMENTS@ll + item * kWide + i];
  store(row, column, values);
}
)cuda";

} // namespace

MatmulText::MatmulText(const GraphIndex &index, const Region &region, const MatmulProblem &problem)
    : problem_(problem), writer_(index, region) {
  writer_.bound("row", problem.rows);
  writer_.bound("column", problem.columns);
  writer_.bound("k", problem.depth);
  writer_.bound("batch", problem.batches());
  writer_.bound("row_group", problem.rows / 4);
  writer_.bound("column_group", problem.columns / 4);
  writer_.bound("k_group", problem.depth / 4);
}

int MatmulText::load_wide(bool is_a) const {
  return (is_a ? problem_.a : problem_.b).fours ? 4 : 1;
}

std::string MatmulText::load(bool is_a, int wide) {
  const MatmulOperand &operand = is_a ? problem_.a : problem_.b;
  std::vector<Index> lanes;
  for (int i = 0; i < wide; ++i) {
    std::string row = is_a ? "row" : "column", k = "k";
    (operand.along_k ? k : row) = lane(operand.along_k ? k : row, wide, i);
    lanes.push_back(is_a ? problem_.a_index("batch", row, k) : problem_.b_index("batch", k, row));
  }
  std::string before;
  const auto elements = writer_.load(operand.value, lanes, before);
  const std::string rows = is_a ? "row" : "column";
  const std::string fast = operand.along_k ? "k" : rows;
  std::string text = "  const auto load_" + std::string(is_a ? "a" : "b") + " = [&](const int " +
                     rows + ", const int k, " + problem_.type + " (&values)[" + std::to_string(wide) +
                     "]) {\n";
  if (wide > 1)
    text += "    const int " + fast + "_group = " + fast + " / " + std::to_string(wide) + ";\n";
  text += before;
  for (int i = 0; i < wide; ++i)
    text += "    values[" + std::to_string(i) + "] = " + elements[i] + ";\n";
  return text + "  };\n";
}

std::string MatmulText::address(bool is_a) const {
  const PlainOperand &plain = *(is_a ? problem_.a : problem_.b).plain;
  const Index parts = unflatten("batch", problem_.batch);
  std::string base = std::to_string(plain.offset) + "ll";
  for (std::size_t d = 0; d < parts.size(); ++d)
    if (plain.batches[d] != 0 && parts[d] != "0")
      base += " + " + parts[d] + " * " + std::to_string(plain.batches[d]) + "ll";
  const auto term = [](const std::string &name, std::int64_t stride) {
    return stride == 0 ? std::string() : " + " + name + " * " + std::to_string(stride) + "ll";
  };
  const std::string name = is_a ? "a" : "b";
  return "  const float *const base_" + name + " = in" + std::to_string(plain.input) + " + (" + base +
         ");\n  const auto address_" + name + " = [&](const int row, const int k) { return base_" +
         name + term("row", plain.rows) + term("k", plain.depth) + "; };\n";
}

int MatmulText::store_wide() const {
  return problem_.columns % 4 == 0 && writer_.store_width() >= 4 ? 4 : 1;
}

std::string MatmulText::store(int wide) {
  std::vector<Index> lanes;
  std::vector<std::string> elements;
  for (int i = 0; i < wide; ++i) {
    lanes.push_back(problem_.result_index("batch", "row", lane("column", wide, i)));
    elements.push_back("values[" + std::to_string(i) + "]");
  }
  return "  const auto store = [&](const int row, const int column, const " + problem_.type +
         " (&values)[" + std::to_string(wide) + "]) {\n" +
         (wide > 1 ? "    const int column_group = column / " + std::to_string(wide) + ";\n"
                   : std::string()) +
         writer_.store(lanes, elements) + "  };\n";
}

std::string MatmulText::store_partial(int wide) const {
  return "  const auto store = [&](const int row, const int column, const " + problem_.type +
         " (&values)[" + std::to_string(wide) + "]) {\n    " + problem_.type +
         " *target = partial + ((static_cast<long long>(split) * " + std::to_string(problem_.batches()) +
         " + batch) * " + std::to_string(problem_.rows) + " + row) * " + std::to_string(problem_.columns) +
         " + column;\n#pragma unroll\n    for (int i = 0; i < " + std::to_string(wide) +
         "; ++i)\n      target[i] = values[i];\n  };\n";
}

std::string MatmulText::sum_kernel(const std::string &name, int splits) {
  return fill_places(
      kSum, {{"NAME", name},
             {"PARAMETERS",
              parameters_with(writer_, {"const " + problem_.type + " *__restrict__ partial"})},
             {"WIDE", std::to_string(store_wide())},
             {"ELEMENTS", std::to_string(problem_.batches() * problem_.rows * problem_.columns)},
             {"ROWS", std::to_string(problem_.rows)},
             {"COLUMNS", std::to_string(problem_.columns)},
             {"SPLITS", std::to_string(splits)},
             {"TYPE", problem_.type},
             {"STORE", store(store_wide())}});
}

model::LaunchStep MatmulText::sum_launch(const std::string &name,
                                         const std::string &partial) const {
  const std::int64_t elements = problem_.batches() * problem_.rows * problem_.columns;
  return launch_of(name, ceil_divide(elements / store_wide(), 256), 256,
                   arguments_with(writer_, {partial}));
}

model::Temporary MatmulText::partial(const std::string &name, int splits) const {
  const auto dtype = model::dtype_from_c_type(problem_.type);
  return {name, dtype.value_or(model::Dtype::Float32),
          Expression(problem_.batches() * problem_.rows * problem_.columns * splits)};
}

std::string tile_text(const MatmulProblem &problem, int tile_m, int tile_n, int splits,
                      int per_tile, const std::string &item) {
  return fill_places(R"cuda(  [[maybe_unused]] const int rank = @ITEM@ % @PER_TILE@;
  const int tile = @ITEM@ / @PER_TILE@ % (@TILES_M@ * @TILES_N@);
  [[maybe_unused]] const int split = @ITEM@ / (@PER_TILE@ * @TILES_M@ * @TILES_N@) % @SPLITS@;
  [[maybe_unused]] const int batch = @ITEM@ / (@PER_TILE@ * @TILES_M@ * @TILES_N@) / @SPLITS@;
  // Eight rows of tiles run together, so that they share operands in the second-level cache.
  const int band = tile / (8 * @TILES_N@) * 8;
  const int height = @TILES_M@ - band < 8 ? @TILES_M@ - band : 8;
  const int tile_m = band + tile % (8 * @TILES_N@) % height, tile_n = tile % (8 * @TILES_N@) / height;
)cuda",
                     {{"TILES_M", std::to_string(ceil_divide(problem.rows, tile_m))},
                      {"TILES_N", std::to_string(ceil_divide(problem.columns, tile_n))},
                      {"SPLITS", std::to_string(splits)},
                      {"PER_TILE", std::to_string(per_tile)},
                      {"ITEM", item}});
}

std::int64_t tile_blocks(const MatmulProblem &problem, int tile_m, int tile_n, int splits,
                         int per_tile) {
  return ceil_divide(problem.rows, tile_m) * ceil_divide(problem.columns, tile_n) * splits *
         per_tile * problem.batches();
}

std::string fill_text(const GraphIndex &index, const Region &region, const MatmulProblem &problem,
                      int tile_m, int tile_n) {
  if (problem.row_dims.size() > 1)
    return {};
  const model::Node &node = index.node(region.anchor);
  const std::string row = "tile_m * " + std::to_string(tile_m), column = "tile_n * " + std::to_string(tile_n);
  const std::string a = text_attribute(node, "a_fill"), b = text_attribute(node, "b_fill"),
                    result = text_attribute(node, "fill");
  std::string text;
  const auto below = [&](const std::string &limit) {
    text += "  last_k = last_k < " + limit + " ? last_k : " + limit + ";\n";
  };
  const auto above = [&](const std::string &limit) {
    text += "  first_k = first_k > " + limit + " ? first_k : " + limit + ";\n";
  };
  if (a == "lower")
    below(row + " + " + std::to_string(tile_m));
  if (a == "upper")
    above(row);
  if (b == "lower")
    above(column);
  if (b == "upper")
    below(column + " + " + std::to_string(tile_n));
  if (result == "lower")
    text +=
        "  if (" + column + " >= " + row + " + " + std::to_string(tile_m) + ")\n    last_k = first_k;\n";
  if (result == "upper")
    text +=
        "  if (" + row + " >= " + column + " + " + std::to_string(tile_n) + ")\n    last_k = first_k;\n";
  return text;
}

} // namespace warpwright::generator
