#include "generator/ops/op_traits.h"

#include "generator/ops/op.h"

namespace warpwright::ops {

bool is_buffer_leaf(const model::Node &node) { return op_of(node).kind == Kind::Buffer; }
bool is_generated(const model::Node &node) { return op_of(node).kind == Kind::Generated; }
bool is_pointwise(const model::Node &node) { return op_of(node).kind == Kind::Pointwise; }
bool is_view(const model::Node &node) { return op_of(node).kind == Kind::View; }
bool is_strided_view(const model::Node &node) { return op_of(node).strided != nullptr; }
bool is_indexed(const model::Node &node) { return op_of(node).kind == Kind::Indexed; }
bool is_product(const model::Node &node) { return op_of(node).kind == Kind::Product; }
bool is_opaque(const model::Node &node) { return op_of(node).kind == Kind::Opaque; }

bool is_inline(const model::Node &node) {
  switch (op_of(node).kind) {
  case Kind::Generated:
  case Kind::Pointwise:
  case Kind::View:
  case Kind::Indexed:
    return true;
  default:
    return false;
  }
}

int recompute_cost(const model::Node &node) { return op_of(node).recompute; }

} // namespace warpwright::ops
