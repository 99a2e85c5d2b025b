// Types of operators that move elements: views, concatenation, padding, and reads at given indices.
#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"

#include <algorithm>
#include <set>

namespace warpwright::ops::infer {

using model::Node;
using model::Shape;

Result<Types> reshape(const Node &node, const Types &operands) {
  if (model::elements_of(node.type().shape) != model::elements_of(operands[0].shape))
    return fail(text_of(operands[0].shape) + " has not the elements of " +
                text_of(node.type().shape));
  return single_result(operands[0].dtype, node.type().shape);
}

Result<Types> permute(const Node &node, const Types &operands) {
  const Shape dims = list_attribute(node, "dims").value_or(Shape{});
  const Shape &shape = operands[0].shape;
  Shape result;
  std::set<std::int64_t> seen;
  for (const std::int64_t dim : dims) {
    if (auto checked = check_dim(dim, shape.size()); !checked)
      return std::unexpected(checked.error());
    seen.insert(dim);
    result.push_back(shape[static_cast<std::size_t>(dim)]);
  }
  if (dims.size() != shape.size() || seen.size() != shape.size())
    return fail("dims " + text_of(dims) + " is not an order of " + std::to_string(shape.size()) +
                " dimensions");
  return single_result(operands[0].dtype, std::move(result));
}

Result<Types> expand(const Node &node, const Types &operands) {
  const auto shape = broadcast(operands[0].shape, node.type().shape);
  if (!shape || *shape != node.type().shape)
    return fail(text_of(operands[0].shape) + " does not expand to " + text_of(node.type().shape));
  return single_result(operands[0].dtype, *shape);
}

Result<Types> slice(const Node &node, const Types &operands) {
  Shape shape = operands[0].shape;
  const std::int64_t dim = integer_attribute(node, "dim");
  if (auto checked = check_dim(dim, shape.size()); !checked)
    return std::unexpected(checked.error());
  std::int64_t &extent = shape[static_cast<std::size_t>(dim)];
  const std::int64_t start = integer_attribute(node, "start");
  const std::int64_t stop = integer_attribute(node, "stop");
  const std::int64_t step = integer_attribute(node, "step", 1);
  if (start < 0 || stop < start || stop > extent || step < 1)
    return fail("start " + std::to_string(start) + ", stop " + std::to_string(stop) + ", step " +
                std::to_string(step) + " of extent " + std::to_string(extent));
  extent = (stop - start + step - 1) / step;
  return single_result(operands[0].dtype, std::move(shape));
}

Result<Types> flip(const Node &node, const Types &operands) {
  for (const std::int64_t dim : list_attribute(node, "dims").value_or(Shape{}))
    if (auto checked = check_dim(dim, operands[0].shape.size()); !checked)
      return std::unexpected(checked.error());
  return single_result(operands[0].dtype, operands[0].shape);
}

Result<Types> roll(const Node &node, const Types &operands) {
  if (list_attribute(node, "dims")->size() != list_attribute(node, "shifts")->size())
    return fail("shifts and dims differ in length");
  return flip(node, operands);
}

Result<Types> cat(const Node &node, const Types &operands) {
  Shape shape = operands[0].shape;
  const std::int64_t dim = integer_attribute(node, "dim");
  if (auto checked = check_dim(dim, shape.size()); !checked)
    return std::unexpected(checked.error());
  const std::size_t joined = static_cast<std::size_t>(dim);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    Shape aligned = operands[i].shape;
    if (aligned.size() == shape.size())
      aligned[joined] = shape[joined];
    if (aligned != shape || operands[i].dtype != operands[0].dtype)
      return fail(text_of(operands[i]) + " does not go with " + text_of(operands[0]));
    shape[joined] += operands[i].shape[joined];
  }
  return single_result(operands[0].dtype, std::move(shape));
}

Result<Types> pad(const Node &node, const Types &operands) {
  Shape shape = operands[0].shape;
  const Shape low = *list_attribute(node, "low"), high = *list_attribute(node, "high");
  if (low.size() != shape.size() || high.size() != shape.size())
    return fail("low and high need one number a dimension");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] += low[i] + high[i];
    if (shape[i] < 0)
      return fail("it cuts more than there is in dimension " + std::to_string(i));
  }
  return single_result(operands[0].dtype, std::move(shape));
}

namespace {

Result<void> check_index(const model::TensorType &index) {
  if (!is_integer(index.dtype))
    return fail("the index is " + text_of(index) + ", not of integers");
  return {};
}

} // namespace

Result<Types> gather(const Node &node, const Types &operands) {
  const Shape &x = operands[0].shape, &index = operands[1].shape;
  if (auto checked = check_index(operands[1]); !checked)
    return std::unexpected(checked.error());
  const std::int64_t dim = integer_attribute(node, "dim");
  if (auto checked = check_dim(dim, x.size()); !checked)
    return std::unexpected(checked.error());
  bool fits = x.size() == index.size();
  for (std::size_t i = 0; fits && i < x.size(); ++i)
    fits = static_cast<std::int64_t>(i) == dim || index[i] <= x[i];
  if (!fits)
    return fail("an index " + text_of(index) + " into " + text_of(x));
  return single_result(operands[0].dtype, index);
}

Result<Types> index_select(const Node &node, const Types &operands) {
  Shape shape = operands[0].shape;
  if (auto checked = check_index(operands[1]); !checked)
    return std::unexpected(checked.error());
  const std::int64_t dim = integer_attribute(node, "dim");
  if (auto checked = check_dim(dim, shape.size()); !checked)
    return std::unexpected(checked.error());
  if (operands[1].shape.size() != 1)
    return fail("the index is " + text_of(operands[1]) + ", not a vector");
  shape[static_cast<std::size_t>(dim)] = operands[1].shape[0];
  return single_result(operands[0].dtype, std::move(shape));
}

Result<Types> embedding(const Node &, const Types &operands) {
  if (auto checked = check_index(operands[1]); !checked)
    return std::unexpected(checked.error());
  if (operands[0].shape.size() != 2)
    return fail("the weight is " + text_of(operands[0]) + ", not a matrix");
  Shape shape = operands[1].shape;
  shape.push_back(operands[0].shape[1]);
  return single_result(operands[0].dtype, std::move(shape));
}

Result<Types> triangle(const Node &, const Types &operands) {
  if (operands[0].shape.size() < 2)
    return fail("a triangle of " + text_of(operands[0]));
  return single_result(operands[0].dtype, operands[0].shape);
}

Result<Types> diagonal(const Node &node, const Types &operands) {
  const Shape &shape = operands[0].shape;
  const std::int64_t dim1 = integer_attribute(node, "dim1"), dim2 = integer_attribute(node, "dim2");
  for (const std::int64_t dim : {dim1, dim2})
    if (auto checked = check_dim(dim, shape.size()); !checked)
      return std::unexpected(checked.error());
  if (dim1 == dim2)
    return fail("dim1 is dim2");
  const std::int64_t offset = integer_attribute(node, "offset");
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (static_cast<std::int64_t>(i) != dim1 && static_cast<std::int64_t>(i) != dim2)
      result.push_back(shape[i]);
  const std::int64_t rows =
      shape[static_cast<std::size_t>(dim1)] + std::min<std::int64_t>(offset, 0);
  const std::int64_t columns =
      shape[static_cast<std::size_t>(dim2)] - std::max<std::int64_t>(offset, 0);
  result.push_back(std::max<std::int64_t>(0, std::min(rows, columns)));
  return single_result(operands[0].dtype, std::move(result));
}

Result<Types> diag_embed(const Node &, const Types &operands) {
  Shape shape = operands[0].shape;
  if (shape.empty())
    return fail("a diagonal of a scalar");
  shape.push_back(shape.back());
  return single_result(operands[0].dtype, std::move(shape));
}

Result<Types> scatter(const Node &node, const Types &operands) {
  if (auto checked = check_index(operands[1]); !checked)
    return std::unexpected(checked.error());
  if (auto checked = check_dim(integer_attribute(node, "dim"), operands[0].shape.size()); !checked)
    return std::unexpected(checked.error());
  bool fits = operands[1].shape.size() == operands[0].shape.size() &&
              operands[2].shape.size() == operands[0].shape.size();
  for (std::size_t i = 0; fits && i < operands[0].shape.size(); ++i)
    fits = operands[1].shape[i] <= operands[2].shape[i];
  if (!fits || operands[2].dtype != operands[0].dtype)
    return fail("it combines " + text_of(operands[2]) + " at " + text_of(operands[1]) + " with " +
                text_of(operands[0]));
  return single_result(operands[0].dtype, operands[0].shape);
}

} // namespace warpwright::ops::infer
