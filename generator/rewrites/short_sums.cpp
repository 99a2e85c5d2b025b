// Reductions and products over a few elements, written out as pointwise ops, which fuse with their
// readers: distances of points, mixes of three colors, sums over the corners of a cell.
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

#include <algorithm>
#include <set>

namespace warpwright::rewrites {
namespace {

/// The most terms of a sum that is written out, and of a product whose result has many rows and many columns.
constexpr std::int64_t kMostTerms = 8, kMostTermsOfLarge = 4;
/// The most pointwise ops before a sum that are written once for each term.
constexpr std::size_t kMostRepeated = 48;

/// The ops that compute a value in place, back to the nearest values that lie in memory.
struct Sources {
  std::size_t pointwise = 0; ///< ops of at least as many elements
  bool broadcast = false; ///< an operand with fewer elements, which a number is not
};
Sources sources_of(const GraphFacts &facts, const std::string &value) {
  Sources found;
  const std::int64_t all = model::elements_of(facts.type(value).shape);
  std::vector<std::string> open{value};
  std::set<std::string> seen;
  while (!open.empty()) {
    const model::Node &node = facts.node(open.back());
    open.pop_back();
    if (!seen.insert(node.name).second || ops::is_generated(node))
      continue;
    const std::int64_t own = model::elements_of(node.type().shape);
    found.broadcast |= own > 1 && own < all;
    if (!ops::is_pointwise(node) && !ops::is_view(node))
      continue;
    found.pointwise += ops::is_pointwise(node) && own >= all;
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
  }
  return found;
}

/// True where pointwise ops combine the value with one of `count` elements, as a norm does its sums with its operand.
bool spreads(const GraphFacts &facts, const std::string &value, std::int64_t count) {
  std::vector<std::string> open{value};
  std::set<std::string> seen;
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    for (const model::Node *user : facts.index().users(name)) {
      if (!ops::is_pointwise(*user) && !ops::is_view(*user))
        continue;
      if (model::elements_of(user->type().shape) == count)
        return true;
      if (seen.insert(user->name).second)
        open.push_back(user->name);
    }
  }
  return false;
}

/// Returns the op that combines two terms of a reduction; null for reductions that are not written out.
const char *combining_op(const model::Node &node) {
  switch (ops::op_of(node).reduction) {
  case ops::Reduction::Sum:
  case ops::Reduction::Mean:
    return op::add;
  case ops::Reduction::Maximum:
    return op::maximum;
  case ops::Reduction::Minimum:
    return op::minimum;
  case ops::Reduction::Product:
    return op::mul;
  case ops::Reduction::Any:
    return op::logical_or;
  case ops::Reduction::All:
    return op::logical_and;
  default:
    return nullptr;
  }
}

/// Returns the dtype in which PyTorch accumulates values of the result's dtype.
model::Dtype accumulator(model::Dtype dtype) {
  return ops::is_half(dtype) ? model::Dtype::Float32 : dtype;
}

/// Returns the value's parts of extent 1 along dims, in order.
std::vector<std::string> terms_along(ReplacementBuilder &builder, const std::string &value,
                                     const model::Shape &dims) {
  std::vector<std::string> terms{value};
  for (const std::int64_t dim : dims) {
    std::vector<std::string> finer;
    for (const std::string &term : terms)
      for (std::int64_t at = 0; at < builder.type(value).shape[static_cast<std::size_t>(dim)]; ++at)
        finer.push_back(builder.slice(term, dim, at, at + 1));
    terms = std::move(finer);
  }
  return terms;
}

} // namespace

std::optional<Replacement> write_out_reduction(const GraphFacts &facts, const model::Node &node) {
  const char *combine = combining_op(node);
  if (!combine)
    return std::nullopt;
  const std::string &source = node.inputs[0];
  const model::Shape &from = facts.type(source).shape;
  const model::Shape dims = ops::reduced_dims(node, from.size());
  const std::int64_t count = extent_of(from, dims);
  if (count < 2 || count > kMostTerms || spreads(facts, node.name, model::elements_of(from)))
    return std::nullopt;
  const Sources sources = sources_of(facts, source);
  const bool lies_together = contains(dims, std::ssize(from) - 1); // a thread reads its terms as one vector
  if (sources.pointwise > kMostRepeated || (lies_together && !sources.broadcast))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  std::string total;
  for (const std::string &term : terms_along(builder, source, dims)) {
    const std::string converted = builder.cast(term, accumulator(node.type().dtype));
    total = total.empty() ? converted : builder.op(combine, {total, converted});
  }
  if (ops::op_of(node).reduction == ops::Reduction::Mean)
    total = builder.scale(total, 1.0 / static_cast<double>(count));
  return builder.finish(total);
}

std::optional<Replacement> write_out_product(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::matmul || !node.attributes.empty())
    return std::nullopt;
  const model::Shape &a = facts.type(node.inputs[0]).shape, &b = facts.type(node.inputs[1]).shape;
  const std::int64_t terms = a.back(), narrow = std::min(a[a.size() - 2], b.back());
  if (terms > (narrow <= kMostTerms ? kMostTerms : kMostTermsOfLarge) ||
      std::max(sources_of(facts, node.inputs[0]).pointwise,
               sources_of(facts, node.inputs[1]).pointwise) > kMostRepeated)
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const model::Dtype dtype = accumulator(node.type().dtype);
  const std::vector<std::string> columns =
                                     terms_along(builder, node.inputs[0], {std::ssize(a) - 1}),
                                 rows = terms_along(builder, node.inputs[1], {std::ssize(b) - 2});
  std::string total;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const std::string term = builder.multiply(builder.cast(columns[k], dtype), builder.cast(rows[k], dtype));
    total = total.empty() ? term : builder.add(total, term);
  }
  return builder.finish(total);
}

} // namespace warpwright::rewrites
