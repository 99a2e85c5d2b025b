// Builds the nodes of a replacement: fresh names, and types that follow from the operands.
//
// It knows the ops that rules write; for the others the type is stated. Thread: one.
#pragma once

#include "generator/rewrites/graph_facts.h"
#include "generator/rewrites/rewrite.h"

namespace warpwright::rewrites {

class ReplacementBuilder {
public:
  /// @param replaced the node whose value is replaced; new names start with its name
  ReplacementBuilder(const GraphFacts &facts, const model::Node &replaced)
      : facts_(facts), replaced_(replaced) {}

  /// Of a node of the graph or of one built here.
  const model::TensorType &type(const std::string &value) const;

  /// Pointwise ops (operands broadcast), matmul, reductions, permute, slice, cat, diagonal, softmax.
  std::string op(const std::string &op, std::vector<std::string> inputs,
                 model::Attributes attributes = {});
  /// A node of a stated type.
  std::string node(const std::string &op, std::vector<std::string> inputs,
                   model::Attributes attributes, model::TensorType type);
  /// The value itself where nothing changes.
  std::string reshape(const std::string &x, model::Shape shape);
  std::string expand(const std::string &x, model::Shape shape);
  std::string cast(const std::string &x, model::Dtype dtype);
  std::string permute(const std::string &x, model::Shape dims);
  std::string slice(const std::string &x, std::int64_t dim, std::int64_t start, std::int64_t stop,
                    std::int64_t step = 1);
  /// sum, mean, amax, ... over dims; the value itself where dims is empty.
  std::string reduce(const std::string &op, const std::string &x, model::Shape dims, bool keepdim);
  std::string constant(double value, model::Dtype dtype);
  /// Every element the same number.
  std::string uniform(double value, const model::TensorType &type);
  std::string add(const std::string &a, const std::string &b);
  std::string multiply(const std::string &a, const std::string &b);
  /// A binary op with a number.
  std::string with_number(const std::string &op, const std::string &x, double number);
  /// Every element times the number.
  std::string scale(const std::string &x, double number);

  /// The replacement; `value` is brought to the replaced node's shape and dtype, which must have as many elements.
  Replacement finish(std::string value);

private:
  const GraphFacts &facts_;
  const model::Node &replaced_;
  std::vector<model::Node> nodes_;
};

/// The shape that operands broadcast to.
model::Shape broadcast(const model::Shape &a, const model::Shape &b);

} // namespace warpwright::rewrites
