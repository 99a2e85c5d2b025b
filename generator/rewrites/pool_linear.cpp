// Averages over neighboring features of a linear layer: averaging the weight makes the product smaller.
#include "generator/ops/names.h"
#include "generator/rewrites/rule_tools.h"
#include "generator/rewrites/rules.h"

namespace warpwright::rewrites {
namespace {

/// Writes the pool of a value along its last dimension, down to the products behind it.
class FeaturePool {
public:
  FeaturePool(const GraphFacts &facts, ReplacementBuilder &builder, const model::Node &pool)
      : facts_(facts), builder_(builder), pool_(pool),
        extent_(facts.type(pool.inputs[0]).shape.back()), pooled_(pool.type().shape.back()) {}

  std::string pooled(const std::string &value) {
    const model::Node &node = facts_.node(value);
    if (node.type().shape.empty() || node.type().shape.back() == 1)
      return value; // the mean of a repeated value is the value
    if (!facts_.read_once(value))
      return plain(value);
    if (node.op == op::add || node.op == op::sub)
      return builder_.op(node.op, {pooled(node.inputs[0]), pooled(node.inputs[1])});
    if (node.op == op::neg)
      return builder_.op(op::neg, {pooled(node.inputs[0])});
    if (node.op == op::mul || node.op == op::div)
      for (const std::size_t factor : {1, 0}) {
        const model::Shape &own = facts_.type(node.inputs[factor]).shape;
        if ((factor == 1 || node.op == op::mul) && (own.empty() || own.back() == 1))
          return builder_.op(node.op, factor == 1
                                          ? std::vector{pooled(node.inputs[0]), node.inputs[1]}
                                          : std::vector{node.inputs[0], pooled(node.inputs[1])});
      }
    if (node.op == op::reshape && facts_.type(node.inputs[0]).shape.back() == extent_ &&
        place_of_dims(facts_.type(node.inputs[0]).shape, node.type().shape)) {
      model::Shape shape = node.type().shape;
      shape.back() = pooled_;
      return builder_.reshape(pooled(node.inputs[0]), shape);
    }
    if (node.op == op::matmul) {
      taken_into_product_ = true;
      return builder_.op(op::matmul, {node.inputs[0], plain(node.inputs[1])});
    }
    return plain(value);
  }

  bool taken_into_product() const { return taken_into_product_; }

private:
  std::string plain(const std::string &value) {
    model::TensorType type = builder_.type(value);
    const model::Shape own = type.shape;
    model::Shape rows{1, 1, own.back()};
    for (std::size_t i = 0; i + 1 < own.size(); ++i)
      rows[1] *= own[i];
    type.shape = {1, rows[1], pooled_};
    model::Shape shape = own;
    shape.back() = pooled_;
    return builder_.reshape(
        builder_.node(op::avg_pool, {builder_.reshape(value, rows)}, pool_.attributes, type), shape);
  }

  const GraphFacts &facts_;
  ReplacementBuilder &builder_;
  const model::Node &pool_;
  std::int64_t extent_, pooled_;
  bool taken_into_product_ = false;
};

} // namespace

std::optional<Replacement> pool_linear_features(const GraphFacts &facts, const model::Node &node) {
  const auto kernel = ops::list_attribute(node, "kernel");
  if (node.op != op::avg_pool || !kernel || kernel->size() != 1 ||
      ops::list_attribute(node, "padding", 1, 0)[0] != 0 || ops::flag_attribute(node, "ceil") ||
      ops::integer_attribute(node, "divisor") != 0 || node.type().dtype != model::Dtype::Float32 ||
      2 * node.type().shape.back() > facts.type(node.inputs[0]).shape.back())
    return std::nullopt;
  ReplacementBuilder builder(facts, node);
  FeaturePool pool(facts, builder, node);
  const std::string value = pool.pooled(node.inputs[0]);
  if (!pool.taken_into_product())
    return std::nullopt;
  return builder.finish(builder.expand(value, node.type().shape));
}

} // namespace warpwright::rewrites
