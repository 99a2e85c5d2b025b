// Functors and the addition of partial results for the matmul family; see matmul_text.h.
#include "generator/families/matmul/matmul_text.h"

#include "generator/ops/attributes.h"

#include <algorithm>

namespace warpwright::families::matmul {
namespace {

/// Index of lane `i`: "4 * name_group + i" for a group of lanes, "name" for a single lane.
std::string lane(const std::string &name, int wide, int i) {
  return wide == 1
             ? name
             : "(" + std::to_string(wide) + " * " + name + "_group + " + std::to_string(i) + ")";
}

/// The declaration that lane() needs for groups of lanes: "const int name_group = name / 4;".
std::string group(const std::string &name, int wide) {
  return wide == 1
             ? std::string()
             : "    const int " + name + "_group = " + name + " / " + std::to_string(wide) + ";\n";
}

constexpr const char *kTiles = "\n"
#include "generator/device/product_tiles.cuh.inc"
    ;

constexpr std::string_view kSum = R"cuda(
extern "C" __global__ void __launch_bounds__(256) @NAME@(@PARAMETERS@) {
  warpwright_tiles::add<@WIDE@, @SPLITS@>(@SIZES@, partial,
      [&](const int batch, const int row, const int column, const @TYPE@ (&values)[@WIDE@]) {
@STORE@      });
}
)cuda";

} // namespace

MatmulText::MatmulText(const ops::GraphIndex &index, const elements::Region &region,
                       const MatmulProblem &problem)
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

std::string MatmulText::load_body(bool is_a, int wide) {
  const MatmulOperand &operand = is_a ? problem_.a : problem_.b;
  const std::string rows = is_a ? "row" : "column";
  std::vector<elements::Index> lanes;
  for (int i = 0; i < wide; ++i) {
    std::string row = rows, k = "k";
    (operand.along_k ? k : row) = lane(operand.along_k ? k : row, wide, i);
    lanes.push_back(is_a ? problem_.a_index("batch", row, k) : problem_.b_index("batch", k, row));
  }
  const std::string fast = operand.along_k ? "k" : rows;
  std::string text = group(fast, wide);
  const auto elements = writer_.load(operand.value, lanes, text);
  for (int i = 0; i < wide; ++i)
    text += "    values[" + std::to_string(i) + "] = " + elements[i] + ";\n";
  return text;
}

std::string MatmulText::load(bool is_a, int wide) {
  return std::string("  const auto load_") +
         (is_a ? "a = [&](const int row" : "b = [&](const int column") + ", const int k, " +
         problem_.type + " (&values)[" + std::to_string(wide) + "]) {\n" + load_body(is_a, wide) +
         "  };\n";
}

std::string MatmulText::address(bool is_a) const {
  const PlainOperand &plain = *(is_a ? problem_.a : problem_.b).plain;
  const std::string base =
      std::to_string(plain.offset) + "ll" +
      elements::strided_terms(elements::unflatten("batch", problem_.batch), plain.batches);
  const auto term = [](const std::string &name, std::int64_t stride) {
    return stride == 0 ? std::string() : " + " + name + " * " + std::to_string(stride) + "ll";
  };
  const std::string name = is_a ? "a" : "b";
  return "  const float *const base_" + name + " = in" + std::to_string(plain.input) + " + (" +
         base + ");\n  const auto address_" + name +
         " = [&](const int row, const int k) { return base_" + name + term("row", plain.rows) +
         term("k", plain.depth) + "; };\n";
}

int MatmulText::store_wide(int most) const {
  const int width = problem_.window ? writer_.store_width(1) : writer_.store_width();
  for (int wide = most; wide >= 4; wide /= 2)
    if (problem_.columns % wide == 0 && width >= wide)
      return wide;
  return 1;
}

std::string MatmulText::store_body(int wide, int splits, bool down) {
  if (splits > 1)
    return "    warpwright_tiles::keep(partial, " +
           arguments_text({problem_.batches(), problem_.rows, problem_.columns}) +
           ", split, batch, row, column, values);\n";
  std::vector<elements::Index> lanes;
  std::vector<std::string> elements;
  for (int i = 0; i < wide; ++i) {
    lanes.push_back(down ? problem_.result_index("batch", lane("row", wide, i), "column")
                         : problem_.result_index("batch", "row", lane("column", wide, i)));
    elements.push_back("values[" + std::to_string(i) + "]");
  }
  return group(down ? "row" : "column", wide) + writer_.store(lanes, elements);
}

std::string MatmulText::store(int wide, int splits) {
  return "  const auto store = [&](const int row, const int column, const " + problem_.type +
         " (&values)[" + std::to_string(wide) + "]) {\n" + store_body(wide, splits) + "  };\n";
}

SplitProduct::SplitProduct(MatmulText &text, const std::string &prefix, int splits)
    : text_(text), prefix_(prefix), partial_(prefix + "_partial"), splits_(splits) {
  lowering.source = kTiles;
}

std::string SplitProduct::parameters(std::vector<std::string> more) const {
  if (splits_ > 1)
    more.push_back(text_.problem().type + " *__restrict__ partial");
  return elements::parameters_with(text_.writer(), more);
}

void SplitProduct::add_multiply(std::int64_t blocks, int threads, std::int64_t shared_bytes,
                                std::vector<std::string> more) {
  if (splits_ > 1) {
    const MatmulProblem &problem = text_.problem();
    more.push_back(partial_);
    lowering.temporaries.push_back(
        {partial_, model::dtype_from_c_type(problem.type).value_or(model::Dtype::Float32),
         symbolic::Expression(problem.batches() * problem.rows * problem.columns * splits_)});
  }
  lowering.steps.push_back(elements::launch_of(prefix_ + "_multiply", blocks, threads,
                                               elements::arguments_with(text_.writer(), more),
                                               shared_bytes));
}

elements::Lowering SplitProduct::finish() {
  if (splits_ == 1)
    return std::move(lowering);
  const MatmulProblem &problem = text_.problem();
  const int wide = text_.store_wide();
  const std::string name = prefix_ + "_sum";
  lowering.source += elements::fill_places(
      kSum,
      {{"NAME", name},
       {"PARAMETERS", elements::parameters_with(
                          text_.writer(), {"const " + problem.type + " *__restrict__ partial"})},
       {"SIZES", arguments_text({problem.batches(), problem.rows, problem.columns})},
       {"SPLITS", std::to_string(splits_)},
       {"WIDE", std::to_string(wide)},
       {"TYPE", problem.type},
       {"STORE", text_.store_body(wide, 1)}});
  const std::int64_t elements = problem.batches() * problem.rows * problem.columns;
  lowering.steps.push_back(
      elements::launch_of(name, elements::ceil_divide(elements / wide, 256), 256,
                          elements::arguments_with(text_.writer(), {partial_})));
  return std::move(lowering);
}

std::string arguments_text(const std::vector<std::int64_t> &arguments) {
  std::string text;
  for (const std::int64_t argument : arguments)
    text += (text.empty() ? "" : ", ") + std::to_string(argument);
  return text;
}

std::string tile_text(const MatmulProblem &problem, int tile_m, int tile_n, int splits,
                      int per_tile) {
  return "  const warpwright_tiles::Item item = warpwright_tiles::item_of(" +
         arguments_text({elements::ceil_divide(problem.rows, tile_m),
                         elements::ceil_divide(problem.columns, tile_n), splits, per_tile}) +
         ", blockIdx.x);\n"
         "  [[maybe_unused]] const int rank = item.rank, split = item.split, batch = item.batch;\n"
         "  const int tile_m = item.tile_m, tile_n = item.tile_n;\n";
}

std::int64_t tile_blocks(const MatmulProblem &problem, int tile_m, int tile_n, int splits,
                         int per_tile) {
  return elements::ceil_divide(problem.rows, tile_m) *
         elements::ceil_divide(problem.columns, tile_n) * splits * per_tile * problem.batches();
}

std::string fill_text(const ops::GraphIndex &index, const elements::Region &region,
                      const MatmulProblem &problem, int tile_m, int tile_n) {
  if (problem.row_dims.size() > 1)
    return {};
  const model::Node &node = index.node(region.anchor);
  const std::string row = "tile_m * " + std::to_string(tile_m),
                    column = "tile_n * " + std::to_string(tile_n);
  const std::string a = ops::text_attribute(node, "a_fill"),
                    b = ops::text_attribute(node, "b_fill"),
                    result = ops::text_attribute(node, "fill");
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
    text += "  if (" + column + " >= " + row + " + " + std::to_string(tile_m) +
            ")\n    last_k = first_k;\n";
  if (result == "upper")
    text += "  if (" + row + " >= " + column + " + " + std::to_string(tile_n) +
            ")\n    last_k = first_k;\n";
  return text;
}

} // namespace warpwright::families::matmul
