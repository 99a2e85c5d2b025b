// Slices moved before the computation that they cut: the last token's logits need only the last token's row. A slice
// moves before a node without other readers: pointwise ops, products, norms and softmax along other dimensions,
// reductions of other dimensions, permutes, reshapes that keep the dimension. Several slices that share no element
// (halves, chunks) move before a pointwise op: each element is still computed once. So do those of the parts of a
// stack, and before views of such values. Slices that one
// `cat` puts in another order stay: a kernel chooses the place and computes the element once.
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>
#include <set>

namespace warpwright::rewrites {
namespace {

struct Slice {
  std::int64_t dim, start, stop, step, extent; ///< extent: of the result
};

/// Returns the operand's part of a slice of the result, to which the operand broadcasts.
std::string part_of(ReplacementBuilder &builder, const std::string &operand, std::size_t rank,
                    const Slice &slice) {
  const model::Shape shape = builder.type(operand).shape;
  const std::int64_t dim = slice.dim - static_cast<std::int64_t>(rank - shape.size());
  if (dim < 0 || shape[static_cast<std::size_t>(dim)] == 1)
    return operand;
  return builder.slice(operand, dim, slice.start, slice.stop, slice.step);
}

/// Returns sliced operands of a matmul or an attention: a slice of rows cuts the first operand, one of columns the
/// last.
std::optional<std::vector<std::string>> parts_of_product(const GraphFacts &facts,
                                                         ReplacementBuilder &builder,
                                                         const model::Node &node,
                                                         const Slice &slice) {
  const std::size_t rank = node.type().shape.size();
  const auto dim = static_cast<std::size_t>(slice.dim);
  std::vector<std::string> parts = node.inputs;
  if (dim + 2 < rank)
    for (std::string &part : parts)
      part = part_of(builder, part, rank, slice);
  else if (dim + 2 == rank && node.op == op::attention &&
           (parts.size() > 3 || ops::flag_attribute(node, "causal")))
    return std::nullopt;
  else if (dim + 2 == rank)
    parts[0] = part_of(builder, parts[0], rank, slice);
  else
    parts.back() = node.op == op::matmul ? part_of(builder, parts[1], rank, slice) : parts.back();
  if (dim + 1 == rank && node.op == op::attention) {
    if (facts.type(parts[2]).shape.size() != rank)
      return std::nullopt;
    parts[2] = part_of(builder, parts[2], rank, slice);
  }
  return parts;
}

/// Returns the operands with which the node computes the slice of its result; nullopt where slices do not suffice.
std::optional<std::vector<std::string>> parts_of(const GraphFacts &facts,
                                                 ReplacementBuilder &builder,
                                                 const model::Node &node, const Slice &slice) {
  const std::size_t rank = node.type().shape.size();
  std::vector<std::string> parts = node.inputs;
  if (ops::is_pointwise(node)) {
    for (std::string &part : parts)
      part = part_of(builder, part, rank, slice);
    return parts;
  }
  if (node.op == op::cat && ops::integer_attribute(node, "dim") != slice.dim) {
    for (std::string &part : parts)
      part = part_of(builder, part, rank, slice);
    return parts;
  }
  if (node.op == op::matmul || node.op == op::attention)
    return parts_of_product(facts, builder, node, slice);
  Slice inner = slice;
  if (node.op == op::softmax || node.op == op::log_softmax ||
      ops::op_of(node).kind == ops::Kind::Scan) {
    if (ops::integer_attribute(node, "dim") == slice.dim)
      return std::nullopt;
  } else if (node.op == op::layer_norm) {
    if (contains(ops::reduced_dims(node, rank), slice.dim))
      return std::nullopt;
  } else if (node.op == op::permute) {
    inner.dim = (*ops::list_attribute(node, "dims"))[static_cast<std::size_t>(slice.dim)];
  } else if (node.op == op::reshape) {
    const auto same = same_dim(node.type().shape, slice.dim, facts.type(parts[0]).shape);
    if (!same)
      return std::nullopt;
    inner.dim = *same;
  } else if (node.op == op::sum || node.op == op::mean || node.op == op::amax ||
             node.op == op::amin || node.op == op::logsumexp || node.op == op::var ||
             node.op == op::norm) {
    const model::Shape &from = facts.type(parts[0]).shape;
    const model::Shape dims = ops::reduced_dims(node, from.size());
    std::int64_t left = slice.dim;
    if (ops::flag_attribute(node, "keepdim")) {
      if (contains(dims, slice.dim))
        return std::nullopt;
    } else {
      for (inner.dim = 0; contains(dims, inner.dim) || left-- > 0;)
        ++inner.dim;
    }
  } else {
    return std::nullopt;
  }
  parts[0] = part_of(builder, parts[0], facts.type(parts[0]).shape.size(), inner);
  return parts;
}

Slice slice_of(const model::Node &node) {
  const std::int64_t dim = ops::integer_attribute(node, "dim"),
                     start = ops::integer_attribute(node, "start"),
                     step = ops::integer_attribute(node, "step", 1),
                     extent = node.type().shape[static_cast<std::size_t>(dim)];
  return {dim, start, start + (extent - 1) * step + 1, step, extent};
}

bool share_elements(const Slice &a, const Slice &b) {
  if (a.stop <= b.start || b.stop <= a.start)
    return false;
  return a.step != b.step || (a.start - b.start) % a.step == 0;
}

/// Returns true where all readers of the value are slices of the dimension, share no element and are not joined again.
bool is_cut_apart(const GraphFacts &facts, const std::string &value, std::int64_t dim) {
  if (facts.index().is_result(value))
    return false;
  std::vector<Slice> slices;
  std::set<std::string> readers;
  for (const model::Node *reader : facts.index().users(value)) {
    if (reader->op != op::slice || ops::integer_attribute(*reader, "dim") != dim)
      return false;
    const Slice slice = slice_of(*reader);
    if (std::ranges::any_of(slices,
                            [&](const Slice &other) { return share_elements(slice, other); }))
      return false;
    slices.push_back(slice);
    for (const model::Node *user : facts.index().users(reader->name))
      readers.insert(user->name);
  }
  return slices.size() < 2 || readers.size() != 1 || facts.node(*readers.begin()).op != op::cat;
}

/// Returns `cut` computed from slices of its operands in place of the slice `node` of its result.
std::optional<Replacement> before(const GraphFacts &facts, const model::Node &node,
                                  const model::Node &cut, const Slice &slice) {
  ReplacementBuilder builder(facts, node);
  const auto parts = parts_of(facts, builder, cut, slice);
  if (!parts)
    return std::nullopt;
  return builder.finish(with_inputs(builder, cut, *parts, node.type().shape));
}

} // namespace

std::optional<Replacement> slice_early(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::slice)
    return std::nullopt;
  const model::Node &cut = facts.node(node.inputs[0]);
  const Slice slice = slice_of(node);
  if (cut.types.size() != 1 ||
      cut.type().shape[static_cast<std::size_t>(slice.dim)] == slice.extent)
    return std::nullopt;
  const model::Node &computed = behind_views(facts, cut.name);
  const bool is_in_place = ops::is_pointwise(computed) || computed.op == op::cat;
  if (!facts.read_once(cut.name) &&
      !(is_in_place && is_cut_apart(facts, cut.name, slice.dim)))
    return std::nullopt;
  return before(facts, node, cut, slice);
}

std::optional<Replacement> split_gated_product(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::slice || facts.node(node.inputs[0]).op != op::matmul)
    return std::nullopt;
  const model::Node &product = facts.node(node.inputs[0]);
  const Slice slice = slice_of(node);
  const std::int64_t columns = product.type().shape.back();
  if (slice.dim + 1 != std::ssize(product.type().shape) || slice.step != 1 ||
      2 * slice.extent != columns || slice.start % slice.extent != 0 ||
      facts.index().users(product.name).size() != 2 ||
      !is_cut_apart(facts, product.name, slice.dim))
    return std::nullopt;
  return before(facts, node, product, slice);
}

} // namespace warpwright::rewrites
