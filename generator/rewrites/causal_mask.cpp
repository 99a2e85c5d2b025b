// Masks that hide the keys behind each query, computed from positions or as a triangle of -inf. The
// attention kernels skip hidden keys and read no mask.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>
#include <cmath>

namespace warpwright::rewrites {
namespace {

/// A linear function of the place in a value: the offset and a factor for each dimension.
struct Linear {
  std::vector<double> factors;
  double offset = 0;
};

Linear combined(const Linear &a, double factor_a, const Linear &b, double factor_b) {
  Linear result{std::vector<double>(std::max(a.factors.size(), b.factors.size()), 0),
                a.offset * factor_a + b.offset * factor_b};
  const auto add = [&](const Linear &one, double factor) {
    const std::size_t before = result.factors.size() - one.factors.size();
    for (std::size_t i = 0; i < one.factors.size(); ++i)
      result.factors[before + i] += factor * one.factors[i];
  };
  add(a, factor_a);
  add(b, factor_b);
  return result;
}

/// Returns the value as a function of the place; nullopt: it is none, or depends on inputs.
std::optional<Linear> linear(const GraphFacts &facts, const std::string &value) {
  const model::Node &node = facts.node(value);
  const std::size_t rank = node.type().shape.size();
  if (const auto number = facts.constant(value))
    return Linear{std::vector<double>(rank, 0), *number};
  if (node.op == op::iota) {
    Linear result{std::vector<double>(rank, 0), 0};
    result.factors[static_cast<std::size_t>(ops::integer_attribute(node, "dim"))] = 1;
    return result;
  }
  if (node.inputs.empty())
    return std::nullopt;
  const auto first = linear(facts, node.inputs[0]);
  if (!first)
    return std::nullopt;
  if (node.op == op::cast)
    return first;
  if (node.op == op::add || node.op == op::sub) {
    const auto second = linear(facts, node.inputs[1]);
    return second ? std::optional(combined(*first, 1, *second, node.op == op::add ? 1 : -1)) : std::nullopt;
  }
  const model::Shape &from = facts.type(node.inputs[0]).shape;
  if (node.op == op::expand) { // what is repeated does not vary
    Linear result = *first;
    for (std::size_t i = 0; i < from.size(); ++i)
      if (from[i] != node.type().shape[rank - from.size() + i])
        result.factors[i] = 0;
    return combined(result, 1, {std::vector<double>(rank, 0), 0}, 1);
  }
  if (node.op == op::slice) {
    Linear result = *first;
    double &factor = result.factors[static_cast<std::size_t>(ops::integer_attribute(node, "dim"))];
    result.offset += factor * static_cast<double>(ops::integer_attribute(node, "start"));
    factor *= static_cast<double>(ops::integer_attribute(node, "step", 1));
    return result;
  }
  const auto places = node.op == op::reshape ? place_of_dims(from, node.type().shape) : std::nullopt;
  if (!places)
    return std::nullopt;
  Linear result{std::vector<double>(rank, 0), first->offset};
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1)
      result.factors[static_cast<std::size_t>((*places)[i])] = first->factors[i];
  return result;
}

/// Column minus row, times a sign, plus an offset.
Linear past_diagonal(std::size_t rank, double sign, double offset) {
  Linear result{std::vector<double>(rank, 0), offset};
  result.factors[rank - 1] = sign;
  result.factors[rank - 2] = -sign;
  return result;
}

/// Returns the whole-numbered function that is positive exactly where the value is true (not 0).
std::optional<Linear> truth(const GraphFacts &facts, const std::string &value) {
  const model::Node &node = facts.node(value);
  const auto negated = [](const std::optional<Linear> &of) {
    return of ? std::optional(combined(*of, -1, {{}, 1}, 1)) : std::nullopt;
  };
  if (node.op == op::logical_not)
    return negated(truth(facts, node.inputs[0]));
  if (node.op == op::cast)
    return truth(facts, node.inputs[0]);
  if ((node.op == op::eq || node.op == op::ne) && facts.constant(node.inputs[1]) == 0)
    return node.op == op::eq ? negated(truth(facts, node.inputs[0])) : truth(facts, node.inputs[0]);
  if (node.op == op::tril || node.op == op::triu) {
    const auto number = facts.constant(node.inputs[0]);
    const auto diagonal = static_cast<double>(ops::integer_attribute(node, "diagonal", 0));
    if (!number || *number == 0)
      return std::nullopt;
    const double sign = node.op == op::triu ? 1 : -1;
    return past_diagonal(node.type().shape.size(), sign, 1 - sign * diagonal);
  }
  const bool is_less = node.op == op::lt || node.op == op::le, is_greater = node.op == op::gt || node.op == op::ge;
  if (!is_less && !is_greater)
    return std::nullopt;
  const auto a = linear(facts, node.inputs[0]), b = linear(facts, node.inputs[1]);
  if (!a || !b)
    return std::nullopt;
  Linear difference = combined(*a, is_less ? -1 : 1, *b, is_less ? 1 : -1);
  difference.offset += node.op == op::le || node.op == op::ge ? 1 : 0;
  return difference;
}

/// Returns the function that is positive exactly where the mask hides a score; elsewhere the mask must change nothing.
std::optional<Linear> hidden_by(const GraphFacts &facts, const std::string &mask) {
  const model::Node &node = facts.node(mask);
  const model::Shape &shape = node.type().shape;
  if (node.op == op::expand || node.op == op::reshape) {
    const model::Shape &from = facts.type(node.inputs[0]).shape;
    const bool keeps_matrix = from.size() >= 2 && std::equal(from.end() - 2, from.end(), shape.end() - 2);
    return keeps_matrix ? hidden_by(facts, node.inputs[0]) : std::nullopt;
  }
  if (node.type().dtype == model::Dtype::Bool) {
    const auto seen = truth(facts, mask);
    return seen ? std::optional(combined(*seen, -1, {{}, 1}, 1)) : std::nullopt;
  }
  if (node.op == op::cast)
    return hidden_by(facts, node.inputs[0]);
  if (node.op == op::triu) {
    const auto number = facts.constant(node.inputs[0]);
    return number && *number < kHides ? truth(facts, mask) : std::nullopt;
  }
  if (node.op != op::where)
    return std::nullopt;
  const auto on_true = facts.constant(node.inputs[1]), on_false = facts.constant(node.inputs[2]);
  const auto condition = truth(facts, node.inputs[0]);
  if (!condition || !on_true || !on_false)
    return std::nullopt;
  if (*on_true < kHides && *on_false == 0)
    return condition;
  return *on_false < kHides && *on_true == 0 ? std::optional(combined(*condition, -1, {{}, 1}, 1))
                                             : std::nullopt;
}

} // namespace

std::optional<Replacement> recognise_causal_mask(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::attention || node.inputs.size() != 4 || ops::flag_attribute(node, "causal"))
    return std::nullopt;
  const auto hidden = hidden_by(facts, node.inputs[3]);
  if (!hidden || hidden->factors.size() < 2 || hidden->offset != 0)
    return std::nullopt;
  const std::size_t rank = hidden->factors.size();
  for (std::size_t i = 0; i < rank; ++i)
    if (hidden->factors[i] != (i + 1 == rank ? 1 : i + 2 == rank ? -1 : 0))
      return std::nullopt;
  ReplacementBuilder builder(facts, node);
  model::Attributes attributes = node.attributes;
  attributes["causal"] = true;
  return builder.finish(builder.node(op::attention, {node.inputs.begin(), node.inputs.begin() + 3},
                                     std::move(attributes), node.type()));
}

} // namespace warpwright::rewrites
