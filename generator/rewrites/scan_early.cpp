// Scans with neutral elements put before their result: the elements go before the operand instead. The exclusive sum,
// written as a concatenation of zeros and a sum, becomes one scan of its shifted input without a copy.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>
#include <cmath>

namespace warpwright::rewrites {
namespace {

/// Returns the value with which a scan begins; nullopt for other ops.
std::optional<double> neutral_of(const model::Node &node) {
  if (node.op == op::cumsum)
    return 0;
  if (node.op == op::cumprod)
    return 1;
  if (node.op == op::cummax || node.op == op::logcumsumexp)
    return -INFINITY;
  if (node.op == op::cummin)
    return INFINITY;
  return std::nullopt;
}

} // namespace

std::optional<Replacement> scan_early(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::cat || node.inputs.size() < 2 || !facts.read_once(node.inputs.back()))
    return std::nullopt;
  const model::Node &scan = facts.node(node.inputs.back());
  const auto neutral = neutral_of(scan);
  if (!neutral || ops::integer_attribute(node, "dim") != ops::integer_attribute(scan, "dim") ||
      facts.type(scan.inputs[0]).dtype != node.type().dtype)
    return std::nullopt;
  std::vector<std::string> pieces(node.inputs.begin(), node.inputs.end() - 1);
  if (!std::ranges::all_of(
          pieces, [&](const std::string &piece) { return facts.constant(piece) == neutral; }))
    return std::nullopt;
  pieces.push_back(scan.inputs[0]);
  ReplacementBuilder builder(facts, node);
  const std::string joined = builder.op(op::cat, pieces, node.attributes);
  return builder.finish(with_inputs(builder, scan, {joined}, node.type().shape));
}

} // namespace warpwright::rewrites
