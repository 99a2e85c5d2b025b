// Shapes and operands of a matmul; see matmul_problem.h.
#include "generator/elements/tensor_map.h"
#include "generator/families/matmul/matmul_problem.h"

#include "generator/elements/element_writer.h"
#include "generator/elements/window_text.h"
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>
#include <limits>
#include <set>

namespace warpwright::families::matmul {
namespace {

using model::Shape;

/// Memory position of a value's elements, exact or as a hint.
struct Layout {
  std::string input; ///< the value in memory
  bool exact = true; ///< false: something is computed on the way, and the strides are only a hint
  model::Dtype dtype = model::Dtype::Float32; ///< of the input
  std::int64_t offset = 0;
  Shape strides;
};

/// Strides of the same elements in another shape; nullopt if the reshape needs a copy.
std::optional<Shape> reshaped(const Shape &from, const Shape &strides, const Shape &to) {
  Shape result(to.size(), 0);
  std::size_t i = from.size(), j = to.size();
  while (i > 0 || j > 0) {
    // Each step matches a group of dimensions on either side with equal numbers of elements.
    std::int64_t a = 1, b = 1;
    std::int64_t innermost = 0, expected = 0;
    bool any = false;
    const auto take = [&] {
      const std::int64_t size = from[--i];
      a *= size;
      if (size == 1)
        return true;
      if (!any) {
        innermost = strides[i];
        any = true;
      } else if (strides[i] != expected) {
        return false;
      }
      expected = strides[i] * size;
      return true;
    };
    std::vector<std::size_t> group;
    if (i > 0 && !take())
      return std::nullopt;
    if (j > 0) {
      b *= to[--j];
      group.push_back(j);
    }
    while (a != b) {
      if (a < b) {
        if (i == 0 || !take())
          return std::nullopt;
      } else {
        if (j == 0)
          return std::nullopt;
        b *= to[--j];
        group.push_back(j);
      }
    }
    std::int64_t stride = innermost;
    for (const std::size_t dim : group) {
      result[dim] = stride;
      stride *= to[dim];
    }
  }
  return result;
}

std::optional<Layout> layout_of(const ops::GraphIndex &index, const elements::Region &region,
                                const std::string &value);

std::optional<Layout> view_layout(const ops::GraphIndex &index, const elements::Region &region,
                                  const model::Node &node) {
  auto layout = layout_of(index, region, node.inputs.at(0));
  if (!layout)
    return layout;
  const Shape &from = index.node(node.inputs[0]).type().shape, &to = node.type().shape;
  if (node.op == op::permute) {
    const auto dims = ops::list_attribute(node, "dims");
    Shape strides;
    for (const std::int64_t dim : *dims)
      strides.push_back(layout->strides.at(dim));
    layout->strides = strides;
  } else if (node.op == op::expand) {
    Shape strides(to.size(), 0);
    for (std::size_t d = 0; d < from.size(); ++d)
      if (from[d] != 1)
        strides[to.size() - from.size() + d] = layout->strides[d];
    layout->strides = strides;
  } else if (node.op == op::slice) {
    const auto dim = ops::integer_attribute(node, "dim");
    layout->offset += ops::integer_attribute(node, "start") * layout->strides.at(dim);
    layout->strides[dim] *= ops::integer_attribute(node, "step", 1);
  } else if (node.op == op::reshape) {
    auto strides = reshaped(from, layout->strides, to);
    layout->exact = layout->exact && strides;
    layout->strides = strides ? *strides : model::strides_of({node.type().dtype, to, {}});
  } else {
    layout->exact = false;
    if (from.size() != to.size())
      layout->strides = model::strides_of({node.type().dtype, to, {}});
  }
  return layout;
}

std::optional<Layout> layout_of(const ops::GraphIndex &index, const elements::Region &region,
                                const std::string &value) {
  const model::Node &node = index.node(value);
  if (std::ranges::find(region.inputs, value) != region.inputs.end())
    return Layout{value, true, node.type().dtype, 0,
                  model::strides_of(elements::region_type(index, region, value))};
  if (ops::is_view(node) && !node.inputs.empty())
    return view_layout(index, region, node);
  // A float32 copy of 16-bit numbers has their products exactly, and rounding the copy gives the numbers again.
  if (node.op == op::cast && node.type().dtype == model::Dtype::Float32 &&
      ops::is_half(index.node(node.inputs[0]).type().dtype))
    return layout_of(index, region, node.inputs[0]);
  if (node.op == op::cast && ops::is_half(node.type().dtype))
    if (auto layout = layout_of(index, region, node.inputs[0]);
        layout && layout->exact && layout->dtype == node.type().dtype)
      return layout;
  // For a value computed in place, the widest operand decides the order of elements.
  const std::string *widest = nullptr;
  std::int64_t most = 0;
  for (const std::string &input : node.inputs)
    if (const std::int64_t elements = model::elements_of(index.node(input).type().shape);
        elements > most) {
      widest = &input;
      most = elements;
    }
  const Shape &shape = node.type().shape;
  Layout computed{
      {}, false, node.type().dtype, 0, model::strides_of({node.type().dtype, shape, {}})};
  if (widest && index.node(*widest).type().shape == shape)
    if (const auto layout = layout_of(index, region, *widest))
      computed.strides = layout->strides;
  return computed;
}

/// @param k_dim, row_dim dimensions of the value; those before its last two are batches, the last `folded` of them rows
MatmulOperand operand_of(const ops::GraphIndex &index, const elements::Region &region,
                         const MatmulProblem &problem, const std::string &value, std::size_t k_dim,
                         std::size_t row_dim, bool folded) {
  MatmulOperand operand{value, true, false, std::nullopt};
  const model::TensorType &type = index.node(value).type();
  const Shape &shape = type.shape;
  const auto layout = layout_of(index, region, value);
  const Shape strides = layout ? layout->strides : model::strides_of({type.dtype, shape, {}});
  const auto reach = [&](std::size_t dim) {
    return shape[dim] == 1 || strides[dim] == 0 ? std::numeric_limits<std::int64_t>::max()
                                                : std::abs(strides[dim]);
  };
  operand.along_k = reach(k_dim) <= reach(row_dim);
  operand.fours = shape[operand.along_k ? k_dim : row_dim] % 4 == 0;
  if (!layout || !layout->exact ||
      (layout->dtype != model::Dtype::Float32 && !ops::is_half(layout->dtype)))
    return operand;

  PlainOperand plain;
  plain.input =
      static_cast<int>(std::ranges::find(region.inputs, layout->input) - region.inputs.begin());
  plain.offset = layout->offset;
  plain.dtype = layout->dtype;
  plain.depth = strides[k_dim];
  const std::size_t batch_dims = shape.size() - 2;
  if (folded) {
    Shape sizes(shape.begin(), shape.end() - 2), steps(strides.begin(), strides.end() - 2);
    sizes.push_back(shape[row_dim]);
    steps.push_back(strides[row_dim]);
    const auto rows = elements::merged(sizes, steps);
    if (!rows)
      return operand;
    plain.rows = *rows;
    plain.batches.assign(problem.batch.size(), 0);
  } else {
    plain.rows = strides[row_dim];
    plain.batches.assign(problem.batch.size(), 0);
    for (std::size_t d = 0; d < batch_dims && d < problem.batch.size(); ++d) {
      const std::size_t from = batch_dims - 1 - d, to = problem.batch.size() - 1 - d;
      plain.batches[to] = shape[from] == 1 ? 0 : strides[from];
    }
  }
  const std::int64_t fast = operand.along_k ? plain.depth : plain.rows;
  const std::int64_t slow = operand.along_k ? plain.rows : plain.depth;
  const std::int64_t extent =
      operand.along_k ? problem.depth : (folded ? problem.rows : shape[row_dim]);
  for (const int vector : {4, 2}) {
    const bool even =
        std::ranges::all_of(plain.batches, [&](std::int64_t step) { return step % vector == 0; });
    if (fast == 1 && slow % vector == 0 && extent % vector == 0 && plain.offset % vector == 0 &&
        even) {
      plain.vector = vector;
      break;
    }
  }
  operand.plain = plain;
  return operand;
}

/// The value before a reshape that only joins batch dimensions, whose strides may differ; null if there is none.
const std::string *before_joined_batches(const ops::GraphIndex &index,
                                         const elements::Region &region, const std::string &value) {
  const model::Node &node = index.node(value);
  if (node.op != op::reshape || std::ranges::find(region.inputs, value) != region.inputs.end())
    return nullptr;
  const Shape &from = index.node(node.inputs[0]).type().shape, &to = node.type().shape;
  return to.size() == 3 && from.size() > 3 && std::equal(to.end() - 2, to.end(), from.end() - 2)
             ? &node.inputs[0]
             : nullptr;
}

elements::Index operand_index(const Shape &shape, const Shape &batch, const Shape &row_dims,
                              const std::string &batch_text, const std::string &row,
                              bool rows_are_folded) {
  elements::Index index;
  const std::size_t batch_dims = shape.size() - 2;
  if (rows_are_folded) {
    const elements::Index rows = elements::unflatten(row, row_dims);
    // The value has the result's leading dimensions, or fewer if those have size 1.
    for (std::size_t d = 0; d < batch_dims; ++d)
      index.push_back(rows[rows.size() - 1 - batch_dims + d]);
    return index;
  }
  const elements::Index parts = elements::unflatten(batch_text, batch);
  for (std::size_t d = 0; d < batch_dims; ++d)
    index.push_back(shape[d] == 1 ? "0" : parts[parts.size() - batch_dims + d]);
  return index;
}

} // namespace

elements::Index MatmulProblem::a_index(const std::string &batch_text, const std::string &row,
                                       const std::string &k) const {
  const bool folded = row_dims.size() > 1;
  elements::Index index = operand_index(a_shape, batch, row_dims, batch_text, row, folded);
  index.push_back(folded ? elements::unflatten(row, row_dims).back() : row);
  index.push_back(k);
  return index;
}

elements::Index MatmulProblem::b_index(const std::string &batch_text, const std::string &k,
                                       const std::string &column) const {
  elements::Index index = row_dims.size() > 1
                              ? elements::Index(b_shape.size() - 2, "0")
                              : operand_index(b_shape, batch, row_dims, batch_text, column, false);
  index.push_back(k);
  index.push_back(column);
  return index;
}

elements::Index MatmulProblem::result_index(const std::string &batch_text, const std::string &row,
                                            const std::string &column) const {
  if (window) {
    elements::Index place = elements::unflatten(row, row_dims);
    place.insert(place.begin() + 1, column);
    return place;
  }
  elements::Index index =
      joins_batches ? elements::Index{batch_text} : elements::unflatten(batch_text, batch);
  if (row_dims.size() > 1)
    for (const std::string &part : elements::unflatten(row, row_dims))
      index.push_back(part);
  else
    index.push_back(row);
  index.push_back(column);
  return index;
}

namespace {

int store_down_width(const ops::GraphIndex &index, const elements::Region &region, const MatmulProblem &problem) {
  const elements::ElementWriter writer(index, region);
  if (problem.window) { // channels may lie before positions; four neighbors lie in one image
    const bool is_row = problem.columns % 4 == 0 && writer.store_width(1) >= 4;
    return !is_row && problem.rows / problem.row_dims[0] % 4 == 0 && writer.flat_width() >= 4 ? 4 : 1;
  }
  const std::size_t rank = index.node(region.anchor).type().shape.size();
  return writer.store_width() == 1 ? writer.store_width(rank - 2) : 1;
}

} // namespace

void describe_epilogue(const ops::GraphIndex &index, const elements::Region &region,
                       MatmulProblem &problem) {
  const std::int64_t elements = model::elements_of(index.node(region.anchor).type().shape);
  std::set<std::string> behind{region.anchor};
  for (const std::string &name : region.nodes) {
    const model::Node &follower = index.node(name);
    if (std::ranges::any_of(follower.inputs,
                            [&](const auto &input) { return behind.contains(input); })) {
      behind.insert(name);
      problem.epilogue_cost += ops::recompute_cost(follower);
      for (const std::string &input : follower.inputs)
        problem.epilogue_reads |= !behind.contains(input) && index.node(input).op != op::matmul &&
                                  2 * model::elements_of(index.node(input).type().shape) > elements;
    }
  }
  problem.store_down = store_down_width(index, region, problem);
}

Result<MatmulProblem> matmul_problem(const ops::GraphIndex &index, const elements::Region &region) {
  const model::Node &node = index.node(region.anchor);
  if (node.op != op::matmul || node.inputs.size() != 2)
    return fail("'" + node.name + "' is no matmul");
  MatmulProblem problem;
  std::string a = node.inputs[0], b = node.inputs[1];
  const auto batches_of = [&](const std::string &value) {
    const Shape &shape = index.node(value).type().shape;
    return Shape(shape.begin(), shape.end() - 2);
  };
  if (const auto *joined_a = before_joined_batches(index, region, a),
      *joined_b = before_joined_batches(index, region, b);
      joined_a && joined_b && batches_of(*joined_a) == batches_of(*joined_b)) {
    problem.joins_batches = true;
    a = *joined_a;
    b = *joined_b;
  }
  problem.a_shape = index.node(a).type().shape;
  problem.b_shape = index.node(b).type().shape;
  const Shape &result = node.type().shape;
  if (problem.a_shape.size() < 2 || problem.b_shape.size() < 2 || result.size() < 2 ||
      model::elements_of(result) == 0 || problem.a_shape.back() == 0)
    return fail("the matmul '" + node.name +
                "' needs operands of two dimensions and more, not empty");
  problem.depth = problem.a_shape.back();
  problem.columns = result.back();
  problem.dtype = node.type().dtype;
  problem.type = ops::compute_type_of(problem.dtype);
  problem.batch = problem.joins_batches ? batches_of(a) : Shape(result.begin(), result.end() - 2);
  const std::int64_t a_batches =
      elements::elements_between(problem.a_shape, 0, problem.a_shape.size() - 2);
  const std::int64_t b_batches =
      elements::elements_between(problem.b_shape, 0, problem.b_shape.size() - 2);
  const bool folded = b_batches == 1 && a_batches > 1;
  if (folded) {
    problem.row_dims.assign(result.begin(), result.end() - 1);
    problem.batch.clear();
  } else {
    problem.row_dims = {result[result.size() - 2]};
  }
  problem.rows = model::elements_of(problem.row_dims);
  problem.a = operand_of(index, region, problem, a, problem.a_shape.size() - 1,
                         problem.a_shape.size() - 2, folded);
  problem.b = operand_of(index, region, problem, b, problem.b_shape.size() - 2,
                         problem.b_shape.size() - 1, false);
  describe_epilogue(index, region, problem);
  for (const std::string &name : region.nodes)
    if (const model::Node &other = index.node(name);
        other.op == op::matmul && name != region.anchor && !problem.joins_batches) {
      problem.twin = name;
      problem.twin_b = operand_of(index, region, problem, other.inputs[1],
                                  problem.b_shape.size() - 2, problem.b_shape.size() - 1, false);
    }
  return problem;
}

} // namespace warpwright::families::matmul
