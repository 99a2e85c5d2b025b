// Indices that no input decides, as torch.roll and reflected borders have them in a compiler's graph: what they select
// is a few slices.
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <cmath>

namespace warpwright::rewrites {
namespace {

constexpr std::int64_t kMostIndices = 1 << 16;
constexpr std::size_t kMostSlices = 4;

using Numbers = std::vector<double>;

/// Returns the elements of an operand as they broadcast to a shape; nullopt for more than a few.
std::optional<Numbers> broadcast_to(const Numbers &numbers, const model::Shape &from,
                                    const model::Shape &to) {
  Numbers result;
  const model::Shape shape = aligned(from, to.size()),
                     strides = model::strides_of({model::Dtype::Int64, shape, {}});
  for (std::int64_t at = 0; at < model::elements_of(to); ++at) {
    std::int64_t left = at, place = 0;
    for (std::size_t d = to.size(); d-- > 0; left /= to[d])
      place += shape[d] == 1 ? 0 : left % to[d] * strides[d];
    result.push_back(numbers[static_cast<std::size_t>(place)]);
  }
  return result;
}

/// Returns the elements of a value in row-major order; nullopt where an input decides them, or where there are many.
std::optional<Numbers> known_elements(const GraphFacts &facts, const std::string &value) {
  const model::Node &node = facts.node(value);
  const model::Shape &shape = node.type().shape;
  const std::int64_t elements = model::elements_of(shape);
  if (elements > kMostIndices || elements == 0)
    return std::nullopt;
  if (const auto number = facts.constant(value))
    return Numbers(static_cast<std::size_t>(elements), *number);
  if (node.op == op::iota) {
    Numbers places;
    const auto dim = static_cast<std::size_t>(ops::integer_attribute(node, "dim"));
    const std::int64_t step = model::strides_of({model::Dtype::Int64, shape, {}})[dim];
    for (std::int64_t at = 0; at < elements; ++at)
      places.push_back(static_cast<double>(at / step % shape[dim]));
    return places;
  }
  if (!ops::is_pointwise(node) && node.op != op::reshape && node.op != op::expand)
    return std::nullopt;
  std::vector<Numbers> operands;
  for (const std::string &input : node.inputs) {
    const auto numbers = known_elements(facts, input);
    if (!numbers)
      return std::nullopt;
    operands.push_back(node.op == op::reshape
                           ? *numbers
                           : *broadcast_to(*numbers, facts.type(input).shape, shape));
  }
  if (node.op == op::reshape || node.op == op::expand)
    return operands[0];
  const ops::Op &written = ops::op_of(node);
  const auto value_of = written.formula.value ? written.formula.value : written.reference;
  const bool is_cast = node.op == op::cast && node.type().dtype == model::Dtype::Int64;
  if (!value_of && !is_cast) // a number that nothing says how to compute
    return std::nullopt;
  Numbers results;
  for (std::size_t at = 0; at < static_cast<std::size_t>(elements); ++at) {
    Numbers elements_of_operands;
    for (const Numbers &operand : operands)
      elements_of_operands.push_back(operand[at]);
    results.push_back(is_cast ? std::trunc(elements_of_operands[0])
                              : value_of(node, elements_of_operands));
  }
  return results;
}

struct Run {
  std::int64_t first, step, count;
};

/// Returns the indices as runs of even steps; nullopt for many runs, or for indices outside of the dimension.
std::optional<std::vector<Run>> runs_of(const Numbers &indices, std::int64_t extent) {
  std::vector<Run> runs;
  for (const double number : indices) {
    const auto index = static_cast<std::int64_t>(number);
    if (static_cast<double>(index) != number || index < 0 || index >= extent)
      return std::nullopt;
    Run *last = runs.empty() ? nullptr : &runs.back();
    if (last && last->count == 1 && index != last->first)
      last->step = index - last->first;
    if (last && index == last->first + last->step * last->count && last->step != 0)
      ++last->count;
    else
      runs.push_back({index, 0, 1});
    if (runs.size() > kMostSlices)
      return std::nullopt;
  }
  return runs;
}

} // namespace

std::optional<Replacement> index_slices(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::index_select || facts.type(node.inputs[1]).shape.size() != 1)
    return std::nullopt;
  const std::int64_t dim = ops::integer_attribute(node, "dim");
  const auto indices = known_elements(facts, node.inputs[1]);
  const auto runs =
      indices ? runs_of(*indices, facts.type(node.inputs[0]).shape[static_cast<std::size_t>(dim)])
              : std::nullopt;
  if (!runs)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  std::vector<std::string> slices;
  for (const Run &run : *runs) {
    const std::int64_t last = run.first + run.step * (run.count - 1),
                       step = std::max<std::int64_t>(std::abs(run.step), 1);
    const std::string slice = builder.slice(node.inputs[0], dim, std::min(run.first, last),
                                            std::max(run.first, last) + 1, step);
    slices.push_back(run.step < 0 ? builder.op(op::flip, {slice}, {{"dims", model::Shape{dim}}})
                                  : slice);
  }
  return builder.finish(slices.size() == 1 ? slices[0]
                                           : builder.op(op::cat, slices, {{"dim", dim}}));
}

} // namespace warpwright::rewrites
