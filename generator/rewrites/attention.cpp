// Attention, recognized from its products and softmax so that the scores need no memory, and decomposed again, as a
// choice.
//
// The pattern is matmul(softmax(mask(scale * matmul(q, k^T))), v), where the mask is an addition or a choice between
// the score and -inf.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <cmath>
#include <limits>

namespace warpwright::rewrites {
namespace {

bool swaps_last_two(const model::Node &node) {
  const auto dims = ops::list_attribute(node, "dims");
  if (node.op != op::permute || !dims || dims->size() < 2)
    return false;
  const auto rank = static_cast<std::int64_t>(dims->size());
  for (std::int64_t i = 0; i < rank - 2; ++i)
    if ((*dims)[static_cast<std::size_t>(i)] != i)
      return false;
  return dims->back() == rank - 2;
}

model::Shape swapped(std::size_t rank) {
  model::Shape dims;
  for (std::size_t i = 0; i < rank; ++i)
    dims.push_back(static_cast<std::int64_t>(i));
  std::swap(dims[rank - 1], dims[rank - 2]);
  return dims;
}

struct Mask {
  std::string value;
  bool hides = false; ///< boolean, and true where nothing is attended to
};

/// Returns the masked value behind a node, if there is one.
std::optional<std::pair<std::string, Mask>> masked(const GraphFacts &facts,
                                                   const model::Node &node) {
  constexpr double kLeast = -1e30; // as good as -inf behind a softmax of float32 scores
  if (node.op == op::where) {
    const auto on_true = facts.constant(node.inputs[1]), on_false = facts.constant(node.inputs[2]);
    if (on_true && *on_true < kLeast)
      return std::pair{node.inputs[2], Mask{node.inputs[0], true}};
    if (on_false && *on_false < kLeast)
      return std::pair{node.inputs[1], Mask{node.inputs[0], false}};
  }
  if (node.op == op::add)
    for (const std::size_t mask : {1, 0})
      if (facts.type(node.inputs[1 - mask]).shape == node.type().shape &&
          !facts.constant(node.inputs[mask]) && facts.node(node.inputs[mask]).op != op::matmul)
        return std::pair{node.inputs[1 - mask], Mask{node.inputs[mask], false}};
  return std::nullopt;
}

} // namespace

std::optional<Replacement> recognise_attention(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::matmul)
    return std::nullopt;
  const std::size_t rank = node.type().shape.size();
  const model::Node *step = &facts.node(node.inputs[0]);
  if (step->op != op::softmax || !facts.read_once(step->name) || rank < 3 ||
      ops::integer_attribute(*step, "dim") + 1 != std::ssize(step->type().shape))
    return std::nullopt;
  step = &facts.node(step->inputs[0]);
  std::optional<Mask> mask;
  double scale = 1;
  for (int depth = 0; depth < 3 && step->op != op::matmul; ++depth) {
    if (!facts.read_once(step->name))
      return std::nullopt;
    const model::Shape scores = step->type().shape;
    const auto constant = with_constant(facts, *step);
    if (constant && (step->op == op::mul || (step->op == op::div && !constant->constant_first))) {
      scale *= step->op == op::mul ? constant->number : 1 / constant->number;
      // Hidden scores stay hidden only under a positive factor; an added mask would be scaled too.
      if (scale <= 0)
        return std::nullopt;
      step = &facts.node(constant->other);
    } else if (const auto found = masked(facts, *step); found && !mask) {
      if (scale != 1 && facts.type(found->second.value).dtype != model::Dtype::Bool)
        return std::nullopt;
      mask = found->second;
      step = &facts.node(found->first);
    } else {
      return std::nullopt;
    }
    if (step->type().shape != scores)
      return std::nullopt;
  }
  if (step->op != op::matmul || !facts.read_once(step->name))
    return std::nullopt;
  const model::Shape &q = facts.type(step->inputs[0]).shape;
  const model::Shape &v = facts.type(node.inputs[1]).shape;
  const model::Shape &k_transposed = facts.type(step->inputs[1]).shape;
  if (q.size() != rank || v.size() != rank || k_transposed.size() != rank)
    return std::nullopt;
  for (std::size_t i = 0; i + 2 < rank; ++i)
    if (q[i] != v[i] || q[i] != k_transposed[i])
      return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const model::Node &key = facts.node(step->inputs[1]);
  const std::string k =
      swaps_last_two(key) ? key.inputs[0] : builder.permute(key.name, swapped(rank));
  std::vector<std::string> inputs{step->inputs[0], k, node.inputs[1]};
  if (mask)
    inputs.push_back(mask->hides ? builder.op(op::logical_not, {mask->value}) : mask->value);
  return builder.finish(
      builder.node(op::attention, inputs, {{"causal", false}, {"scale", scale}}, node.type()));
}

std::optional<Replacement> decompose_attention(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::attention || ops::flag_attribute(node, "causal"))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const model::Shape &q = facts.type(node.inputs[0]).shape, &k = facts.type(node.inputs[1]).shape;
  std::string scores =
      builder.op(op::matmul, {node.inputs[0], builder.permute(node.inputs[1], swapped(k.size()))});
  scores = builder.with_number(
      op::mul, scores,
      ops::number_attribute(node, "scale", 1 / std::sqrt(static_cast<double>(q.back()))));
  if (node.inputs.size() > 3) {
    const std::string &mask = node.inputs[3];
    if (facts.type(mask).dtype == model::Dtype::Bool)
      scores = builder.op(op::where, {mask, scores,
                                    builder.constant(-std::numeric_limits<double>::infinity(),
                                                     builder.type(scores).dtype)});
    else
      scores = builder.add(scores, mask);
  }
  const auto last = static_cast<std::int64_t>(builder.type(scores).shape.size()) - 1;
  return builder.finish(
      builder.op(op::matmul, {builder.op(op::softmax, {scores}, {{"dim", last}}), node.inputs[2]}));
}

} // namespace warpwright::rewrites
