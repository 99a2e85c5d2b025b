// Views, and operators that take elements from where an index says.
#include "generator/ops/attributes.h"
#include "generator/ops/infer.h"
#include "generator/ops/table/rows.h"

namespace warpwright::generator::table {
namespace {

using model::Node;
using enum AttributeKind;

Bounds first(const Node &, std::span<const Bounds> x) { return x[0]; }
Bounds first_or_zero(const Node &, std::span<const Bounds> x) {
  return bounds::hull(x[0], {0, 0});
}

Op view(std::string_view name, InferTypes infer, std::vector<AttributeRule> attributes = {},
        InferBounds bounds = first) {
  return {.name = name,
          .kind = Kind::View,
          .least_operands = 1,
          .most_operands = 1,
          .attributes = std::move(attributes),
          .infer = infer,
          .bounds = bounds};
}

Op moving(Op op) {
  op.moves = true;
  return op;
}

/// Moves its operand's elements by strides alone.
Op strided(Op op) {
  op.strided = op.moves = true;
  return op;
}

Op selecting(Op op) {
  op.selects = true;
  return op;
}

Op indexed(std::string_view name, InferTypes infer, std::vector<AttributeRule> attributes = {}) {
  return {.name = name,
          .kind = Kind::Indexed,
          .least_operands = 2,
          .most_operands = 2,
          .attributes = std::move(attributes),
          .infer = infer,
          .recompute = Address,
          .bounds = first,
          .selects = true};
}

} // namespace

const std::vector<Op> kViews = {
    strided(view("reshape", infer::reshape)),
    strided(view("permute", infer::permute, {{"dims", List}})),
    strided(view("expand", infer::expand)),
    selecting(strided(view(
        "slice", infer::slice,
        {{"dim", Integer}, {"start", Integer}, {"stop", Integer}, {"step", Integer, false}}))),
    moving(view("flip", infer::flip, {{"dims", List}})),
    moving(view("roll", infer::roll, {{"shifts", List}, {"dims", List}})),
    {.name = "cat",
     .kind = Kind::View,
     .least_operands = 1,
     .most_operands = kAnyNumber,
     .attributes = {{"dim", Integer}},
     .infer = infer::cat,
     .bounds =
         [](const Node &, std::span<const Bounds> operands) {
           Bounds all = operands[0];
           for (const Bounds &one : operands)
             all = bounds::hull(all, one);
           return all;
         }},
    selecting(view("pad", infer::pad, {{"low", List}, {"high", List}, {"value", Number, false}},
                   [](const Node &node, std::span<const Bounds> x) {
                     const double value = number_attribute(node, "value");
                     return bounds::hull(x[0], {value, value});
                   })),
    selecting(view("triu", infer::triangle, {{"diagonal", Integer, false}}, first_or_zero)),
    selecting(view("tril", infer::triangle, {{"diagonal", Integer, false}}, first_or_zero)),
    selecting(view("diagonal", infer::diagonal,
                   {{"offset", Integer, false}, {"dim1", Integer}, {"dim2", Integer}})),
    view("diag_embed", infer::diag_embed, {}, first_or_zero),

    indexed("gather", infer::gather, {{"dim", Integer}}),
    indexed("index_select", infer::index_select, {{"dim", Integer}}),
    indexed("embedding", infer::embedding),
    {.name = "scatter_add",
     .kind = Kind::Scatter,
     .least_operands = 3,
     .most_operands = 3,
     .attributes = {{"dim", Integer}},
     .infer = infer::scatter_add,
     .library = library::scatter_add,
     .selects = true},
};

} // namespace warpwright::generator::table
