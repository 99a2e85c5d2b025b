#include "generator/rewrites/linear_sums.h"

#include "generator/ops/cost.h"
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"

#include <algorithm>

namespace warpwright::rewrites {

std::string LinearSums::plain(const std::string &value, const model::Shape &dims) {
  return builder_.reduce(op::sum, value, dims, true);
}

std::string LinearSums::scaled(const std::string &value, double factor) {
  return factor == 1 ? value : builder_.scale(value, factor);
}

std::string LinearSums::sum(const std::string &value, const model::Shape &all_dims) {
  const model::Node &node = facts_.node(value);
  const model::Shape &shape = node.type().shape;
  model::Shape dims;
  for (const std::int64_t dim : all_dims)
    if (shape[static_cast<std::size_t>(dim)] > 1)
      dims.push_back(dim);
  if (dims.empty())
    return value;
  if (!facts_.read_once(value) || node.types.size() != 1)
    return plain(value, dims);
  if ((node.op == op::add || node.op == op::sub) && node.inputs[0] != node.inputs[1])
    return builder_.op(node.op, {sum_of_operand(node.inputs[0], shape, dims),
                                 sum_of_operand(node.inputs[1], shape, dims)});
  if (node.op == op::neg)
    return builder_.op(op::neg, {sum(node.inputs[0], dims)});
  if (node.op == op::matmul)
    return sum_of_product(node, dims);
  std::optional<std::string> written;
  if (node.op == op::mul || node.op == op::div)
    written = sum_of_scaled(node, dims);
  else if (node.op == op::reshape || node.op == op::permute)
    written = sum_of_view(node, dims);
  else if (node.op == op::conv)
    written = sum_of_convolution(node, dims);
  return written ? *written : plain(value, dims);
}

std::string LinearSums::sum_of_operand(const std::string &operand, const model::Shape &shape,
                                       const model::Shape &dims) {
  const model::Shape own = facts_.type(operand).shape;
  const std::size_t added = shape.size() - own.size();
  model::Shape mapped;
  double repeats = 1;
  for (const std::int64_t dim : dims) {
    const auto at = static_cast<std::size_t>(dim);
    if (at < added || own[at - added] == 1)
      repeats *= static_cast<double>(shape[at]);
    else
      mapped.push_back(dim - static_cast<std::int64_t>(added));
  }
  return scaled(sum(operand, mapped), repeats);
}

std::optional<std::string> LinearSums::sum_of_scaled(const model::Node &node,
                                                     const model::Shape &dims) {
  const model::Shape &shape = node.type().shape;
  for (const std::size_t factor : {1, 0}) {
    if (factor == 0 && node.op == op::div)
      break;
    const model::Shape own = aligned(facts_.type(node.inputs[factor]).shape, shape.size());
    const bool untouched = std::ranges::all_of(
        dims, [&](std::int64_t dim) { return own[static_cast<std::size_t>(dim)] == 1; });
    if (untouched)
      return builder_.op(
          node.op, {sum_of_operand(node.inputs[1 - factor], shape, dims), node.inputs[factor]});
  }
  return std::nullopt;
}

std::optional<std::string> LinearSums::sum_of_view(const model::Node &node,
                                                   const model::Shape &dims) {
  const model::Shape &from = facts_.type(node.inputs[0]).shape;
  model::Shape mapped, kept = node.type().shape;
  for (const std::int64_t dim : dims)
    kept[static_cast<std::size_t>(dim)] = 1;
  if (node.op == op::permute) {
    const model::Shape order = ops::list_attribute(node, "dims").value_or(model::Shape{});
    for (const std::int64_t dim : dims)
      mapped.push_back(order[static_cast<std::size_t>(dim)]);
    std::ranges::sort(mapped);
    model::Shape inner_kept = from;
    for (const std::int64_t dim : mapped)
      inner_kept[static_cast<std::size_t>(dim)] = 1;
    return builder_.permute(builder_.expand(sum(node.inputs[0], mapped), inner_kept), order);
  }
  const auto places = place_of_dims(from, node.type().shape);
  if (!places)
    return std::nullopt;
  model::Shape inner_kept = from;
  for (std::size_t i = 0; i < places->size(); ++i)
    if ((*places)[i] >= 0 && contains(dims, (*places)[i])) {
      mapped.push_back(static_cast<std::int64_t>(i));
      inner_kept[i] = 1;
    }
  return builder_.reshape(builder_.expand(sum(node.inputs[0], mapped), inner_kept), kept);
}

std::string LinearSums::sum_of_product(const model::Node &node, const model::Shape &dims) {
  const model::Shape &shape = node.type().shape;
  const model::Shape &a = facts_.type(node.inputs[0]).shape, &b = facts_.type(node.inputs[1]).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto own = [&](const model::Shape &operand, std::int64_t dim) {
    return dim - rank + static_cast<std::int64_t>(operand.size());
  };
  const auto has = [&](const model::Shape &operand, std::int64_t dim) {
    const std::int64_t at = own(operand, dim);
    return at >= 0 && operand[static_cast<std::size_t>(at)] > 1;
  };
  model::Shape of_a, of_b, after;
  for (const std::int64_t dim : dims)
    if (dim == rank - 1)
      of_b.push_back(own(b, dim));
    else if (dim == rank - 2)
      of_a.push_back(own(a, dim));
    else if (has(a, dim) && has(b, dim))
      after.push_back(dim); // contracted with each other: no operand can take the sum
    else
      (has(a, dim) ? of_a : of_b).push_back(has(a, dim) ? own(a, dim) : own(b, dim));
  if (of_a.empty() && of_b.empty())
    return plain(node.name, dims);
  const auto taken = [&](const std::string &operand, const model::Shape &of) {
    model::Shape kept = facts_.type(operand).shape;
    for (const std::int64_t dim : of)
      kept[static_cast<std::size_t>(dim)] = 1;
    return of.empty() ? operand : builder_.expand(sum(operand, of), kept);
  };
  const std::string left = taken(node.inputs[0], of_a), right = taken(node.inputs[1], of_b);
  const std::string product = builder_.op(op::matmul, {left, right});
  saved_flops_ += ops::matmul_flops(a, b) -
                  ops::matmul_flops(builder_.type(left).shape, builder_.type(right).shape);
  return builder_.reduce(op::sum, product, after, true);
}

std::string window_sums(ReplacementBuilder &builder, const std::string &x, std::int64_t dim,
                        const std::vector<TapWindow> &windows) {
  const std::int64_t extent = builder.type(x).shape[static_cast<std::size_t>(dim)];
  const auto sum_of = [&](std::int64_t start, std::int64_t stop, std::int64_t step) {
    return builder.reduce(op::sum, builder.slice(x, dim, start, stop, step), {dim}, true);
  };
  std::string total;
  std::vector<std::string> sums;
  for (const TapWindow &window : windows) {
    const std::int64_t left_out = extent - (window.stop - window.start);
    std::string sum;
    if (window.stop <= window.start) {
      model::TensorType type = builder.type(x);
      type.shape[static_cast<std::size_t>(dim)] = 1;
      sum = builder.uniform(0, type);
    } else if (window.step != 1 || 4 * left_out > extent) {
      sum = sum_of(window.start, window.stop, window.step);
    } else {
      // The total is read once for all windows; what a window leaves out at its ends is little.
      if (total.empty())
        total = sum_of(0, extent, 1);
      sum = total;
      if (window.start > 0)
        sum = builder.op(op::sub, {sum, sum_of(0, window.start, 1)});
      if (window.stop < extent)
        sum = builder.op(op::sub, {sum, sum_of(window.stop, extent, 1)});
    }
    sums.push_back(sum);
  }
  return sums.size() == 1 ? sums.front() : builder.op(op::cat, sums, {{"dim", dim}});
}

} // namespace warpwright::rewrites
