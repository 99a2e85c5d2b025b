// Attention, recognized from its products and softmax so that the scores need no memory, and decomposed again, as a
// choice.
//
// The pattern is matmul(softmax(mask(cap(scale * matmul(q, k^T)))), v). The mask is an addition or a choice between the
// score and -inf, and the cap c * tanh(x / c). Casts between floating-point types may stand anywhere.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace warpwright::rewrites {
namespace {

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
  if (node.op == op::where) {
    const auto on_true = facts.constant(node.inputs[1]), on_false = facts.constant(node.inputs[2]);
    if (on_true && *on_true < kHides)
      return std::pair{node.inputs[2], Mask{node.inputs[0], true}};
    if (on_false && *on_false < kHides)
      return std::pair{node.inputs[1], Mask{node.inputs[0], false}};
  }
  if (node.op == op::add)
    for (const std::size_t mask : {1, 0})
      if (facts.type(node.inputs[1 - mask]).shape == node.type().shape &&
          !facts.constant(node.inputs[mask]) && facts.node(node.inputs[mask]).op != op::matmul)
        return std::pair{node.inputs[1 - mask], Mask{node.inputs[mask], false}};
  return std::nullopt;
}

/// Returns the value before a reshape that only joins the dimensions before the last two; without one the value itself.
const std::string &before_joined_batches(const GraphFacts &facts, const std::string &value) {
  const model::Node &node = facts.node(value);
  if (node.op != op::reshape)
    return value;
  const model::Shape &from = facts.type(node.inputs[0]).shape, &to = node.type().shape;
  return to.size() == 3 && from.size() > 3 && std::equal(to.end() - 2, to.end(), from.end() - 2)
             ? node.inputs[0]
             : value;
}

/// Returns the node before casts between floating-point types that nothing else reads; null: others read one.
const model::Node *before_casts(const GraphFacts &facts, const model::Node &node) {
  const model::Node *step = &node;
  while (step->op == op::cast && model::is_floating(facts.type(step->inputs[0]).dtype)) {
    step = &facts.node(step->inputs[0]);
    if (facts.index().users(step->name).size() != 1 || facts.index().is_result(step->name))
      return nullptr;
  }
  return step;
}

/// Returns the operand of a softmax over the last dimension, given as such or as exp(x - max) / sum(exp(x - max)), and read
/// by nothing else; nullopt: it is none.
std::optional<std::string> softmax_operand(const GraphFacts &facts, const model::Node &node) {
  const std::int64_t last = std::ssize(node.type().shape) - 1;
  const auto is_only_read = [&](const std::string &value, std::size_t readers) {
    return facts.index().users(value).size() == readers && !facts.index().is_result(value);
  };
  if (node.op == op::softmax)
    return ops::integer_attribute(node, "dim") == last && is_only_read(node.inputs[0], 1)
               ? std::optional(node.inputs[0])
               : std::nullopt;
  const auto reduces = [&](const std::string &value, std::string_view op, const std::string &of) {
    const model::Node &reduction = facts.node(value);
    return reduction.op == op && reduction.inputs[0] == of &&
           ops::list_attribute(reduction, "dims") == model::Shape{last} &&
           std::ssize(reduction.type().shape) == last + 1;
  };
  if (node.op != op::div || !reduces(node.inputs[1], op::sum, node.inputs[0]))
    return std::nullopt;
  const model::Node &exponential = facts.node(node.inputs[0]);
  if (exponential.op != op::exp || !is_only_read(exponential.name, 2))
    return std::nullopt;
  const model::Node &shifted = facts.node(exponential.inputs[0]);
  if (shifted.op != op::sub || !reduces(shifted.inputs[1], op::amax, shifted.inputs[0]) ||
      !is_only_read(shifted.inputs[0], 2))
    return std::nullopt;
  return shifted.inputs[0];
}

/// mask(cap(scale * product)), where a cap c makes c * tanh(x / c) of x.
struct Scores {
  const model::Node *product = nullptr;
  double scale = 1, softcap = 0; ///< 0: no cap
  std::optional<Mask> mask;
};

/// @param value the operand of the softmax
std::optional<Scores> scores_of(const GraphFacts &facts, const std::string &value) {
  Scores scores;
  double factor = 1; // of what is still to be found
  const model::Node *step = &facts.node(value);
  constexpr int kMostSteps = 12;
  for (int depth = 0; depth < kMostSteps && step->op != op::matmul; ++depth) {
    const auto constant = with_constant(facts, *step);
    const std::string *next = nullptr;
    std::optional<std::pair<std::string, Mask>> found;
    if (constant && (step->op == op::mul || (step->op == op::div && !constant->constant_first))) {
      factor *= step->op == op::mul ? constant->number : 1 / constant->number;
      // Hidden scores stay hidden only under a positive factor; an added mask would be scaled too.
      if (factor <= 0)
        return std::nullopt;
      next = &constant->other;
    } else if (step->op == op::tanh && scores.softcap == 0) {
      scores.softcap = factor;
      next = &step->inputs[0];
    } else if (step->op == op::cast && model::is_floating(facts.type(step->inputs[0]).dtype)) {
      next = &step->inputs[0];
    } else if (step->op == op::reshape && facts.type(step->inputs[0]).shape.size() == 3) {
      // The product is of joined batches.
      const model::Shape &from = facts.type(step->inputs[0]).shape, &to = step->type().shape;
      if (facts.node(step->inputs[0]).op != op::matmul || to.size() < 4 ||
          !std::equal(from.end() - 2, from.end(), to.end() - 2))
        return std::nullopt;
      next = &step->inputs[0];
    } else if (found = masked(facts, *step); found && !scores.mask && scores.softcap == 0) {
      if (factor != 1 && facts.type(found->second.value).dtype != model::Dtype::Bool)
        return std::nullopt;
      scores.mask = found->second;
      next = &found->first;
    } else {
      return std::nullopt;
    }
    const model::Node &operand = facts.node(*next);
    if (!facts.read_once(operand.name) ||
        (step->op != op::reshape && operand.type().shape != step->type().shape))
      return std::nullopt;
    step = &operand;
  }
  if (step->op != op::matmul)
    return std::nullopt;
  scores.product = step;
  scores.scale = factor;
  return scores;
}

/// True where the kernel for capped scores (families/attention) takes the operands; the library has none.
bool fits_capped_kernel(const GraphFacts &facts, const std::string &q, const std::string &v) {
  constexpr std::int64_t kMostDepth = 256;
  return std::ranges::all_of(std::array{q, v}, [&](const std::string &value) {
    const std::int64_t size = facts.type(value).shape.back();
    return model::size_bytes(facts.type(value).dtype) == 2 && size % 8 == 0 && size <= kMostDepth;
  });
}

} // namespace

std::optional<Replacement> recognise_attention(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::matmul || node.type().shape.size() < 3)
    return std::nullopt;
  const model::Node *weights = &facts.node(node.inputs[0]);
  if (!facts.read_once(weights->name))
    return std::nullopt;
  const std::string &unjoined = before_joined_batches(facts, weights->name);
  if (unjoined != weights->name && !facts.read_once(unjoined))
    return std::nullopt;
  weights = before_casts(facts, facts.node(unjoined));
  const auto operand = weights ? softmax_operand(facts, *weights) : std::nullopt;
  const auto scores = operand ? scores_of(facts, *operand) : std::nullopt;
  if (!scores)
    return std::nullopt;
  const std::string &q = scores->product->inputs[0];
  const model::Dtype dtype = node.type().dtype;
  if (facts.type(q).dtype != dtype ||
      (scores->softcap != 0 && !fits_capped_kernel(facts, q, node.inputs[1])))
    return std::nullopt;

  ReplacementBuilder builder(facts, node);
  const model::Shape &shape = weights->type().shape; // of the scores
  const std::size_t rank = shape.size();
  const auto batched = [&](const std::string &value) {
    const std::string &found = before_joined_batches(facts, value);
    model::Shape wanted(shape.begin(), shape.end() - 2);
    const model::Shape &own = facts.type(found).shape;
    if (own.size() == rank)
      return found;
    wanted.insert(wanted.end(), own.end() - 2, own.end());
    return builder.reshape(found, wanted);
  };
  std::string k = scores->product->inputs[1];
  bool is_transposed = true;
  const auto turn = [&] {
    if (is_transposed && ops::swaps_last_two(facts.node(k))) {
      k = facts.node(k).inputs[0];
      is_transposed = false;
    }
  };
  turn();
  k = before_joined_batches(facts, k);
  turn();
  k = batched(k);
  if (is_transposed)
    k = builder.permute(k, swapped(rank));
  std::vector<std::string> inputs{batched(q), k, batched(node.inputs[1])};
  for (const std::string &input : inputs)
    if (const model::Shape &own = builder.type(input).shape;
        own.size() != rank || !std::equal(own.begin(), own.end() - 2, shape.begin()))
      return std::nullopt;
  if (scores->mask)
    inputs.push_back(scores->mask->hides ? builder.op(op::logical_not, {scores->mask->value})
                                         : scores->mask->value);
  model::Attributes attributes{{"causal", false}, {"scale", scores->scale}};
  if (scores->softcap != 0)
    attributes.emplace("softcap", scores->softcap);
  model::Shape result = builder.type(inputs[0]).shape;
  result.back() = builder.type(inputs[2]).shape.back();
  return builder.finish(
      builder.node(op::attention, inputs, attributes, {dtype, std::move(result), {}}));
}

std::optional<Replacement> decompose_attention(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::attention)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const model::Shape &q = facts.type(node.inputs[0]).shape, &k = facts.type(node.inputs[1]).shape;
  std::string scores =
      builder.op(op::matmul, {node.inputs[0], builder.permute(node.inputs[1], swapped(k.size()))});
  scores = builder.with_number(
      op::mul, scores,
      ops::number_attribute(node, "scale", 1 / std::sqrt(static_cast<double>(q.back()))));
  if (const double cap = ops::number_attribute(node, "softcap", 0); cap != 0)
    scores = builder.with_number(
        op::mul, builder.op(op::tanh, {builder.with_number(op::div, scores, cap)}), cap);
  if (ops::flag_attribute(node, "causal")) {
    const model::Shape &shape = builder.type(scores).shape;
    const std::string all =
        builder.uniform(1, {model::Dtype::Bool, {shape.end() - 2, shape.end()}, {}});
    scores = builder.op(
        op::where,
        {builder.op(op::tril, {all}, {{"diagonal", std::int64_t{0}}}), scores,
         builder.constant(-std::numeric_limits<double>::infinity(), builder.type(scores).dtype)});
  }
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
