// A softmax as its rows' maxima and sums and an element's formula, if reductions along other
// dimensions read the softmax. Such reductions are other kernels, which can compute the elements
// from the operand and two numbers a row (planning/partition_outputs.cpp).
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <set>
#include <vector>

namespace warpwright::rewrites {
namespace {

/// Readers of a value, through pointwise operators that keep its shape.
struct Readers {
  bool reduce_other_dims = false;
  bool need_memory = false; ///< a product, an operator of the library, or the graph's caller reads the value
};

Readers readers_of(const GraphFacts &facts, const model::Node &value, std::int64_t dim) {
  Readers found;
  std::vector<const model::Node *> open{&value};
  std::set<std::string> seen;
  while (!open.empty()) {
    const model::Node &node = *open.back();
    open.pop_back();
    if (!seen.insert(node.name).second)
      continue;
    found.need_memory |= facts.index().is_result(node.name);
    for (const model::Node *user : facts.index().users(node.name))
      if (ops::op_of(*user).reduction != ops::Reduction::None)
        found.reduce_other_dims |= !contains(ops::reduced_dims(*user, value.type().shape.size()), dim);
      else if (ops::is_pointwise(*user) && user->type().shape == value.type().shape)
        open.push_back(user);
      else
        found.need_memory |= !ops::is_inline(*user);
  }
  return found;
}

/// Returns true for values behind convolutions: channels-last plans reorder a softmax as a whole.
bool is_behind_convolution(const GraphFacts &facts, const std::string &value) {
  std::vector<std::string> open{value};
  std::set<std::string> seen;
  while (!open.empty()) {
    const model::Node &node = facts.node(open.back());
    open.pop_back();
    if (node.op == op::conv)
      return true;
    if (seen.insert(node.name).second)
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  return false;
}

} // namespace

std::optional<Replacement> softmax_parts(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::softmax && node.op != op::log_softmax)
    return std::nullopt;
  const std::int64_t dim = ops::integer_attribute(node, "dim");
  const Readers readers = readers_of(facts, node, dim);
  if (!readers.reduce_other_dims || readers.need_memory ||
      is_behind_convolution(facts, node.inputs[0]))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const std::string x = node.type().dtype == model::Dtype::Float64
                            ? node.inputs[0]
                            : builder.cast(node.inputs[0], model::Dtype::Float32);
  const std::string shifted = builder.op(op::sub, {x, builder.reduce(op::amax, x, {dim}, true)}),
                    exponential = builder.op(op::exp, {shifted}),
                    sum = builder.reduce(op::sum, exponential, {dim}, true);
  return builder.finish(node.op == op::softmax
                            ? builder.op(op::mul, {exponential, builder.op(op::reciprocal, {sum})})
                            : builder.op(op::sub, {shifted, builder.op(op::log, {sum})}));
}

} // namespace warpwright::rewrites
