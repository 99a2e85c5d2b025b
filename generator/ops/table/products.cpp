// Products and windows: matmul, attention, convolutions, pools and upsampling.
#include "generator/ops/attributes.h"
#include "generator/ops/cost.h"
#include "generator/ops/infer.h"
#include "generator/ops/table/rows.h"

namespace warpwright::ops::table {
namespace {

using model::Node;
using enum AttributeKind;

constexpr AttributeRule kStride = {"stride", List, false}, kPadding = {"padding", List, false},
                        kDilation = {"dilation", List, false}, kCeil = {"ceil", Flag, false};

Op product(std::string_view name, std::size_t least, std::size_t most, InferTypes infer,
           CallLibrary library, Flops flops, std::vector<AttributeRule> attributes) {
  return {.name = name,
          .kind = Kind::Product,
          .least_operands = least,
          .most_operands = most,
          .attributes = std::move(attributes),
          .infer = infer,
          .library = library,
          .flops = flops,
          .selects = true};
}

Op counted(Op op, Flops flops) {
  op.flops = flops;
  return op;
}

Op window(std::string_view name, InferTypes infer, CallLibrary library,
          std::vector<AttributeRule> attributes, InferBounds bounds, bool keeps_uniform, bool selects) {
  return {.name = name,
          .kind = Kind::Window,
          .least_operands = 1,
          .most_operands = 1,
          .attributes = std::move(attributes),
          .infer = infer,
          .library = library,
          .bounds = bounds,
          .selects = selects,
          .keeps_uniform = keeps_uniform};
}

/// Returns no bounds for averages with a divisor of their own, which may lie outside the values.
Bounds average(const Node &node, std::span<const Bounds> x) {
  return integer_attribute(node, "divisor") == 0 ? bounds::hull(x[0], {0, 0}) : Bounds{};
}

} // namespace

const std::vector<Op> kProducts = {
    product("matmul", 2, 2, infer::matmul, nullptr, flops::matmul,
            {{"fill", Text, false}, {"a_fill", Text, false}, {"b_fill", Text, false}}),
    product("attention", 3, 4, infer::attention, library::attention, flops::attention,
            {{"causal", Flag}, {"scale", Number}, {"softcap", Number, false}}),
    product("conv", 2, 3, infer::conv, library::convolution, flops::convolution,
            {kStride,
             kPadding,
             kDilation,
             {"groups", Integer, false},
             {"transposed", Flag, false},
             {"output_padding", List, false}}),
};

const std::vector<Op> kWindows = {
    counted(window("max_pool", infer::max_pool, library::max_pool,
                   {{"kernel", List}, kStride, kPadding, kDilation, kCeil}, first, true, true),
            flops::pool),
    counted(window("avg_pool", infer::avg_pool, library::avg_pool,
                   {{"kernel", List},
                    kStride,
                    kPadding,
                    kCeil,
                    {"count_include_pad", Flag, false},
                    {"divisor", Integer, false}},
                   average, false, true),
            flops::pool),
    window("adaptive_avg_pool", infer::adaptive_pool, library::resize, {}, first, true, false),
    window("adaptive_max_pool", infer::adaptive_pool, library::resize, {}, first, true, false),
};

} // namespace warpwright::ops::table
