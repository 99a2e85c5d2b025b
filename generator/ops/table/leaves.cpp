// Operators without operands, calls of ATen operators, and results of nodes that have several.
#include "generator/ops/infer.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/table/rows.h"

namespace warpwright::ops::table {

using enum AttributeKind;

const std::vector<Op> kLeaves = {
    {.name = "input",
     .kind = Kind::Buffer,
     .attributes = {{"torch_name", Text, false}},
     .infer = infer::stated_leaf},
    {.name = "parameter",
     .kind = Kind::Buffer,
     .attributes = {{"torch_name", Text, false}},
     .infer = infer::stated_leaf},
    {.name = "constant",
     .kind = Kind::Generated,
     .attributes = {{"value", Number, false}, {"values", Text, false}},
     .infer = infer::constant},
    {.name = "iota",
     .kind = Kind::Generated,
     .attributes = {{"dim", Integer}},
     .infer = infer::iota},
    {.name = "item",
     .kind = Kind::Opaque,
     .least_operands = 1,
     .most_operands = 1,
     .attributes = {{"index", Integer}},
     .infer = infer::item,
     .selects = true},
    {.name = "aten",
     .kind = Kind::Opaque,
     .most_operands = kAnyNumber,
     .attributes = {{"target", Text}, {"arguments", Text}, {"keywords", Text, false}},
     .infer = infer::aten,
     .selects = true},
};

const std::vector<Op> kInternal = {
    {.name = kLayoutOp,
     .kind = Kind::View,
     .from_result = [](symbolic::IndexMath &, const model::Node &, const model::Shape &,
                       const Lanes &lanes) -> ViewSource { return {lanes}; },
     .to_result = [](symbolic::IndexMath &, const model::Node &, const model::Shape &,
                     const Lanes &lanes) { return lanes; }},
    {.name = kLayoutsOp, .kind = Kind::Internal},
};

} // namespace warpwright::ops::table
