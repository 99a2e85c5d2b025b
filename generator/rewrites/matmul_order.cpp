// The order of a chain of products, by operations: (A @ B) @ v = A @ (B @ v), also where a bias stands between them.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {
namespace {

double flops(const model::Shape &a, const model::Shape &b) {
  model::Shape batch =
      broadcast(model::Shape(a.begin(), a.end() - 2), model::Shape(b.begin(), b.end() - 2));
  return 2.0 * static_cast<double>(model::elements_of(batch)) *
         static_cast<double>(a[a.size() - 2]) * static_cast<double>(a.back()) *
         static_cast<double>(b.back());
}

model::Shape product_shape(const model::Shape &a, const model::Shape &b) {
  model::Shape shape =
      broadcast(model::Shape(a.begin(), a.end() - 2), model::Shape(b.begin(), b.end() - 2));
  shape.push_back(a[a.size() - 2]);
  shape.push_back(b.back());
  return shape;
}

/// Another order must take less than this share of the operations: small savings do not justify changed rounding.
constexpr double kWorthIt = 0.7;

} // namespace

std::optional<Replacement> reorder_products(const GraphFacts &facts, const model::Node &node) {
  if (node.op != op::matmul || !model::is_floating(node.type().dtype))
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  const auto shape = [&](const std::string &value) { return facts.type(value).shape; };
  const std::string &left = node.inputs[0], &right = node.inputs[1];
  const model::Node *inner = &facts.node(left);
  std::string bias;
  // (a @ b + bias) @ right, the bias being one row for all.
  if (inner->op == op::add && facts.read_once(left))
    for (const std::size_t i : {0, 1}) {
      const model::Node &product = facts.node(inner->inputs[i]);
      const model::Shape row = shape(inner->inputs[1 - i]);
      if (product.op == op::matmul && product.type().shape == inner->type().shape &&
          model::elements_of(row) == (row.empty() ? 0 : row.back()) && right != product.name) {
        bias = inner->inputs[1 - i];
        inner = &product;
        break;
      }
    }
  if (inner->op == op::matmul && facts.read_once(inner->name) && right != inner->name) {
    const model::Shape a = shape(inner->inputs[0]), b = shape(inner->inputs[1]), c = shape(right);
    // Every batch of b would meet every batch of c: only where one has none.
    const bool plain = b.size() == 2 || c.size() == 2 || b.size() == c.size();
    if (plain && flops(b, c) + flops(a, product_shape(b, c)) <
                     kWorthIt * (flops(a, b) + flops(product_shape(a, b), c))) {
      const std::string later = builder.op(op::matmul, {inner->inputs[1], right});
      std::string value = builder.op(op::matmul, {inner->inputs[0], later});
      if (!bias.empty()) {
        const std::string row = builder.reshape(bias, {1, model::elements_of(shape(bias))});
        value = builder.add(value, builder.op(op::matmul, {row, right}));
      }
      return builder.finish(value);
    }
  }
  const model::Node &second = facts.node(right);
  if (second.op == op::matmul && facts.read_once(right) && left != right) {
    const model::Shape a = shape(left), b = shape(second.inputs[0]), c = shape(second.inputs[1]);
    const bool plain = a.size() == 2 || b.size() == 2 || a.size() == b.size();
    if (plain && flops(a, b) + flops(product_shape(a, b), c) <
                     kWorthIt * (flops(b, c) + flops(a, product_shape(b, c))))
      return builder.finish(
          builder.op(op::matmul, {builder.op(op::matmul, {left, second.inputs[0]}), second.inputs[1]}));
  }
  return std::nullopt;
}

} // namespace warpwright::rewrites
