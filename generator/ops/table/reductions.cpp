// Reductions and scans along dimensions, and normalisations, which are written out as those.
#include "generator/ops/infer.h"
#include "generator/ops/table/rows.h"

namespace warpwright::generator::table {
namespace {

using model::Node;
using enum AttributeKind;

Bounds first(const Node &, std::span<const Bounds> x) { return x[0]; }
Bounds not_negative(const Node &, std::span<const Bounds>) { return {.low = 0}; }
/// Of sums of values of one sign.
Bounds sum_bounds(const Node &, std::span<const Bounds> x) {
  Bounds found;
  if (x[0].low >= 0)
    found.low = 0;
  if (x[0].high <= 0)
    found.high = 0;
  return found;
}

Op reduction(std::string_view name, InferTypes infer, InferBounds bounds = nullptr,
             std::vector<AttributeRule> more = {}) {
  Op op{.name = name,
        .kind = Kind::Reduction,
        .least_operands = 1,
        .most_operands = 1,
        .attributes = {{"dims", List, false}, {"keepdim", Flag, false}},
        .infer = infer,
        .bounds = bounds};
  op.attributes.insert(op.attributes.end(), more.begin(), more.end());
  return op;
}

Op uniform(Op op) {
  op.keeps_uniform = true;
  return op;
}

Op scan(std::string_view name, InferBounds bounds = nullptr) {
  return {.name = name,
          .kind = Kind::Scan,
          .least_operands = 1,
          .most_operands = 1,
          .attributes = {{"dim", Integer}},
          .infer = infer::scan,
          .bounds = bounds};
}

Op norm(std::string_view name, std::size_t most, InferTypes infer,
        std::vector<AttributeRule> attributes, InferBounds bounds = nullptr) {
  return {.name = name,
          .kind = Kind::Norm,
          .least_operands = 1,
          .most_operands = most,
          .attributes = std::move(attributes),
          .infer = infer,
          .bounds = bounds};
}

constexpr AttributeRule kAbsent = {"absent", Text, false}, kEps = {"eps", Number};

} // namespace

const std::vector<Op> kReductions = {
    reduction("sum", infer::reduction, sum_bounds),
    uniform(reduction("amax", infer::reduction, first)),
    uniform(reduction("amin", infer::reduction, first)),
    reduction("prod", infer::reduction),
    uniform(reduction("mean", infer::floating_reduction, first)),
    reduction("logsumexp", infer::floating_reduction),
    reduction("any", infer::truth_reduction),
    reduction("all", infer::truth_reduction),
    reduction("argmax", infer::arg_reduction),
    reduction("argmin", infer::arg_reduction),
    reduction("var", infer::floating_reduction, not_negative, {{"correction", Number, false}}),
    reduction("norm", infer::floating_reduction, not_negative, {{"p", Number}}),
    scan("cumsum", sum_bounds),
    scan("cumprod"),
};

const std::vector<Op> kNorms = {
    norm("softmax", 1, infer::softmax, {{"dim", Integer}},
         [](const Node &, std::span<const Bounds>) -> Bounds {
           return {0, 1};
         }),
    norm("log_softmax", 1, infer::softmax, {{"dim", Integer}},
         [](const Node &, std::span<const Bounds>) -> Bounds {
           return {.high = 0};
         }),
    norm("layer_norm", 3, infer::layer_norm, {{"dims", List}, kEps, kAbsent}),
    norm("group_norm", 3, infer::group_norm, {{"groups", Integer}, kEps, kAbsent}),
    norm("batch_norm", 5, infer::batch_norm,
         {{"training", Flag}, kEps, {"momentum", Number, false}, kAbsent}),
};

} // namespace warpwright::generator::table
