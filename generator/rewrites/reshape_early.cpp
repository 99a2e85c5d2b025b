// A reshape of pointwise ops of reshaped values, as einsum leaves them around its products: the ops
// are computed in the shape that the values had before.
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>

namespace warpwright::rewrites {
namespace {

constexpr std::size_t kMostOps = 64;

/// Pointwise ops, each read once, back to reshapes of values of one shape and to single elements.
class Cone {
public:
  Cone(const GraphFacts &facts, const model::Node &reshape) : facts_(facts), reshape_(reshape) {}

  /// Returns false where an operand is something else. Sets `has_leaf()`.
  bool is_whole(const std::string &value) {
    const model::Node &node = facts_.node(value);
    if (node.types.size() != 1)
      return false;
    if (model::elements_of(node.type().shape) == 1)
      return true;
    if (source_of(node)) {
      has_leaf_ = true;
      return true;
    }
    return ops_++ < kMostOps && ops::is_pointwise(node) && facts_.read_once(value) &&
           node.type().shape == facts_.type(reshape_.inputs[0]).shape &&
           std::ranges::all_of(node.inputs, [&](const std::string &one) { return is_whole(one); });
  }
  bool has_leaf() const { return has_leaf_; }

  /// Appends the value in the shape of the reshape.
  std::string append(ReplacementBuilder &builder, const std::string &value) const {
    const model::Node &node = facts_.node(value);
    if (model::elements_of(node.type().shape) == 1)
      return builder.reshape(value, {});
    if (const model::Node *source = source_of(node))
      return builder.reshape(source->name, reshape_.type().shape);
    std::vector<std::string> inputs;
    for (const std::string &input : node.inputs)
      inputs.push_back(append(builder, input));
    return with_inputs(builder, node, std::move(inputs), reshape_.type().shape);
  }

private:
  /// Returns what the node is a reshape of, if that has the shape sought; else null.
  const model::Node *source_of(const model::Node &node) const {
    if (node.op != op::reshape)
      return nullptr;
    const model::Node &source = facts_.node(node.inputs[0]);
    return place_of_dims(source.type().shape, reshape_.type().shape) ? &source : nullptr;
  }

  const GraphFacts &facts_;
  const model::Node &reshape_;
  std::size_t ops_ = 0;
  bool has_leaf_ = false;
};

bool is_part(const GraphFacts &facts, const model::Node &node) {
  return facts.read_once(node.name) && facts.index().users(node.name)[0]->op == op::cat;
}

} // namespace

std::optional<Replacement> reshape_early(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::reshape || !ops::is_pointwise(facts.node(node.inputs[0])) ||
      (place_of_dims(facts.type(node.inputs[0]).shape, node.type().shape) && !is_part(facts, node)))
    return std::nullopt;
  Cone cone(facts, node);
  if (!cone.is_whole(node.inputs[0]) || !cone.has_leaf())
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  return builder.finish(cone.append(builder, node.inputs[0]));
}

} // namespace warpwright::rewrites
