// The groups of ops behind interpret(). Each gives nothing for an op that is not its own. Thread: pure functions.
#pragma once

#include "tests/generator/graph_array.h"

#include <optional>

namespace warpwright::test {

using Operands = std::vector<const Array *>;
using Results = std::optional<std::vector<Array>>;

Results interpret_pointwise(const model::Node &node, const Operands &inputs);
Results interpret_view(const model::Node &node, const Operands &inputs);
Results interpret_index(const model::Node &node, const Operands &inputs);
Results interpret_reduction(const model::Node &node, const Operands &inputs);
Results interpret_row(const model::Node &node, const Operands &inputs);
Results interpret_product(const model::Node &node, const Operands &inputs);
Results interpret_window(const model::Node &node, const Operands &inputs);

/// The shape that the operands broadcast to.
model::Shape broadcast_shape(const model::Shape &a, const model::Shape &b);
/// The dtype that PyTorch's promotion gives two tensors.
model::Dtype promote(model::Dtype a, model::Dtype b);

} // namespace warpwright::test
