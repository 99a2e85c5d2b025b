// Reductions and scans along dimensions, and normalizations, which are expanded into those.
#include "generator/ops/infer.h"
#include "generator/ops/table/rows.h"

namespace warpwright::ops::table {
namespace {

using model::Node;
using enum AttributeKind;

Bounds not_negative(const Node &, std::span<const Bounds>) { return {.low = 0}; }
/// Returns bounds of a sum, which are known where all values have one sign.
Bounds sum_bounds(const Node &, std::span<const Bounds> x) {
  Bounds found;
  if (x[0].low >= 0)
    found.low = 0;
  if (x[0].high <= 0)
    found.high = 0;
  return found;
}

Op reduction(std::string_view name, Reduction kind, InferTypes infer, CallLibrary library,
             InferBounds bounds = nullptr, std::vector<AttributeRule> more = {}) {
  Op op{.name = name,
        .kind = Kind::Reduction,
        .least_operands = 1,
        .most_operands = 1,
        .attributes = {{"dims", List, false}, {"keepdim", Flag, false}},
        .infer = infer,
        .reduction = kind,
        .library = library,
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
          .library = library::scan,
          .bounds = bounds};
}

Op expanding(Op op, Expand expand) {
  op.expand = expand;
  return op;
}

Op norm(std::string_view name, std::size_t most, InferTypes infer, Expand expand, CallLibrary library,
        std::vector<AttributeRule> attributes, InferBounds bounds = nullptr) {
  return {.name = name,
          .kind = Kind::Norm,
          .least_operands = 1,
          .most_operands = most,
          .attributes = std::move(attributes),
          .infer = infer,
          .expand = expand,
          .library = library,
          .bounds = bounds};
}

constexpr AttributeRule kAbsent = {"absent", Text, false}, kEps = {"eps", Number};

} // namespace

const std::vector<Op> kReductions = {
    reduction("sum", Reduction::Sum, infer::reduction, library::sum, sum_bounds)
        .for_example("%y: f32[2,8,9] = sum(%x) {dims=[1]}"),
    uniform(reduction("amax", Reduction::Maximum, infer::reduction, library::reduction, first)
                .for_example("%y: f32[2,8,9] = amax(%x) {dims=[1]}")),
    uniform(reduction("amin", Reduction::Minimum, infer::reduction, library::reduction, first)
                .for_example("%y: f32[2,8,9] = amin(%x) {dims=[1]}")),
    reduction("prod", Reduction::Product, infer::reduction, library::prod)
        .for_example("%y: f32[2,8,9] = prod(%x) {dims=[1]}"),
    uniform(reduction("mean", Reduction::Mean, infer::floating_reduction, library::mean, first)
                .for_example("%y: f32[2,8,9] = mean(%x) {dims=[1]}")),
    expanding(reduction("logsumexp", Reduction::None, infer::floating_reduction, library::reduction)
                  .for_example("%y: f32[2,8,9] = logsumexp(%x) {dims=[1]}"),
              expansion::logsumexp),
    reduction("any", Reduction::Any, infer::truth_reduction, library::any)
        .for_example("%y: bool[6] = any(%b) {dims=[0]}"),
    reduction("all", Reduction::All, infer::truth_reduction, library::all)
        .for_example("%y: bool[6] = all(%b) {dims=[0]}"),
    reduction("argmax", Reduction::ArgMaximum, infer::arg_reduction, library::arg_reduction)
        .for_example("%y: i64[4] = argmax(%m) {dims=[1]}"),
    reduction("argmin", Reduction::ArgMinimum, infer::arg_reduction, library::arg_reduction)
        .for_example("%y: i64[1,6] = argmin(%m) {dims=[0], keepdim=true}"),
    reduction("var", Reduction::Variance, infer::floating_reduction, library::var, not_negative,
              {{"correction", Number, false}})
        .for_example("%y: f32[] = var(%x) {correction=1.0}"),
    expanding(reduction("norm", Reduction::None, infer::floating_reduction, library::norm,
                        not_negative, {{"p", Number}})
                  .for_example("%y: f32[4] = norm(%m) {dims=[1], p=2.0}"),
              expansion::norm),
    scan("cumsum", sum_bounds).for_example("%y: f32[4,6] = cumsum(%m) {dim=0}"),
    scan("cumprod").for_example("%y: f32[4,6] = cumprod(%m) {dim=1}"),
    uniform(scan("cummax", first).for_example("%y: f32[4,6] = cummax(%m) {dim=1}")),
    uniform(scan("cummin", first).for_example("%y: f32[4,6] = cummin(%m) {dim=0}")),
    scan("logcumsumexp").for_example("%y: f32[4,6] = logcumsumexp(%m) {dim=1}"),
    Op{.name = "topk",
       .kind = Kind::Selection,
       .least_operands = 1,
       .most_operands = 1,
       .attributes = {{"dim", Integer}, {"k", Integer}, {"largest", Flag}, {"sorted", Flag}},
       .infer = infer::topk,
       .library = library::topk}
        .for_example("%y: i64[4,2] = topk(%m) {dim=1, k=2, largest=true, sorted=true}"),
};

const std::vector<Op> kNorms = {
    norm("softmax", 1, infer::softmax, expansion::softmax, library::softmax, {{"dim", Integer}},
         [](const Node &, std::span<const Bounds>) -> Bounds {
           return {0, 1};
         })
        .for_example("%y: f32[4,6] = softmax(%m) {dim=1}"),
    norm("log_softmax", 1, infer::softmax, expansion::log_softmax, library::softmax,
         {{"dim", Integer}},
         [](const Node &, std::span<const Bounds>) -> Bounds { return {.high = 0}; })
        .for_example("%y: f32[4,6] = log_softmax(%m) {dim=0}"),
    norm("layer_norm", 3, infer::layer_norm, expansion::layer_norm, library::layer_norm,
         {{"dims", List}, kEps, kAbsent})
        .for_example("%y: f32[4,6] = layer_norm(%m, %v, %v) {dims=[1], eps=1e-5}"),
    norm("group_norm", 3, infer::group_norm, expansion::group_norm, library::group_norm,
         {{"groups", Integer}, kEps, kAbsent})
        .for_example("%y: f32[2,6,8,9] = group_norm(%x, %v, %v) {groups=3, eps=1e-5}"),
    norm("batch_norm", 5, infer::batch_norm, expansion::batch_norm, library::batch_norm,
         {{"training", Flag}, kEps, {"momentum", Number, false}, kAbsent}),
};

} // namespace warpwright::ops::table
