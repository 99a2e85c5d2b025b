// A group norm behind a convolution that is written as its formula, as torch.compile passes it on:
// the group_norm of a plan, which channels-last plans compute from (N, spatial..., C)
// (planning/channels_last_norms.cpp). As a formula over (N, groups, channels of a group, space) it
// would be read across channels-last memory.
#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <numeric>

namespace warpwright::rewrites {
namespace {

/// Returns true where an image is a convolution's result, or computed from it place by place.
bool is_image_of_convolution(const GraphFacts &facts, const std::string &value) {
  const model::Node *node = &facts.node(value);
  if (node->type().shape.size() != 4 && node->type().shape.size() != 5)
    return false;
  while (ops::is_pointwise(*node)) {
    const model::Node *operand = &facts.node(node->inputs[0]);
    if (operand->type().shape != node->type().shape)
      return false;
    node = operand;
  }
  return node->op == op::conv;
}

/// Returns true for a mean or variance of `grouped` over all dimensions of a group.
bool is_of_groups(const model::Node &statistic, const char *op, const std::string &grouped,
                  std::size_t rank) {
  model::Shape dims(rank - 2);
  std::iota(dims.begin(), dims.end(), 2);
  return statistic.op == op && statistic.inputs[0] == grouped &&
         ops::reduced_dims(statistic, rank) == dims && ops::flag_attribute(statistic, "keepdim");
}

} // namespace

std::optional<Replacement> recognise_group_norm(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::mul)
    return std::nullopt;
  for (const int first : {0, 1}) {
    const model::Node &centred = facts.node(node.inputs[static_cast<std::size_t>(first)]),
                      &factor = facts.node(node.inputs[static_cast<std::size_t>(1 - first)]);
    if (centred.op != op::sub || factor.op != op::rsqrt)
      continue;
    const model::Node &grouped = facts.node(centred.inputs[0]);
    const std::size_t rank = grouped.type().shape.size();
    const auto above = with_constant(facts, facts.node(factor.inputs[0]));
    if (grouped.op != op::reshape || rank < 3 || node.type().shape != grouped.type().shape ||
        !above || facts.node(factor.inputs[0]).op != op::add)
      continue;
    const model::Node &variance = facts.node(above->other);
    const std::string &x = grouped.inputs[0];
    const model::Shape &image = facts.type(x).shape, &shape = grouped.type().shape;
    if (!is_image_of_convolution(facts, x) || shape[0] != image[0] || shape[1] == 0 ||
        image[1] % shape[1] != 0 ||
        !is_of_groups(facts.node(centred.inputs[1]), op::mean, grouped.name, rank) ||
        !is_of_groups(variance, op::var, grouped.name, rank) ||
        ops::number_attribute(variance, "correction", 1) != 0)
      continue;
    ReplacementBuilder builder(facts, node);
    return builder.finish(builder.node(
        op::group_norm, {x},
        {{"groups", shape[1]}, {"eps", above->number}, {"absent", std::string("weight,bias")}},
        {node.type().dtype, image, {}}));
  }
  return std::nullopt;
}

} // namespace warpwright::rewrites
