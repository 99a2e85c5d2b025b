// Builder of a replacement's nodes, with fresh names and with types that follow from the operands. It infers the types
// of the ops that rules write; for other ops the rule states the type.
#pragma once

#include "generator/rewrites/graph_facts.h"
#include "generator/rewrites/rewrite.h"

namespace warpwright::rewrites {

class ReplacementBuilder {
public:
  /// @param replaced the node whose value is replaced; new names start with its name
  ReplacementBuilder(const GraphFacts &facts, const model::Node &replaced)
      : facts_(facts), replaced_(replaced) {}

  /// Returns the type of a node of the graph or of a node built here.
  const model::TensorType &type(const std::string &value) const;

  /// Appends pointwise ops (operands broadcast), matmul, reductions, permute, slice, cat, diagonal, softmax.
  std::string op(const std::string &op, std::vector<std::string> inputs,
                 model::Attributes attributes = {});
  /// Appends a node of a stated type.
  std::string node(const std::string &op, std::vector<std::string> inputs,
                   model::Attributes attributes, model::TensorType type);
  /// These return the value itself where nothing changes.
  std::string reshape(const std::string &x, model::Shape shape);
  std::string expand(const std::string &x, model::Shape shape);
  std::string cast(const std::string &x, model::Dtype dtype);
  std::string permute(const std::string &x, model::Shape dims);
  std::string slice(const std::string &x, std::int64_t dim, std::int64_t start, std::int64_t stop,
                    std::int64_t step = 1);
  /// Appends sum, mean, amax, ... over dims; returns the value itself where dims is empty.
  std::string reduce(const std::string &op, const std::string &x, model::Shape dims, bool keepdim);
  std::string constant(double value, model::Dtype dtype);
  /// Returns a value in which every element is the same number.
  std::string uniform(double value, const model::TensorType &type);
  std::string add(const std::string &a, const std::string &b);
  std::string multiply(const std::string &a, const std::string &b);
  /// Appends a binary op with a number.
  std::string with_number(const std::string &op, const std::string &x, double number);
  /// Multiplies every element by the number.
  std::string scale(const std::string &x, double number);

  /// Returns the replacement, with `value` brought to the replaced node's shape and dtype; of as many elements.
  Replacement finish(std::string value);

private:
  const GraphFacts &facts_;
  const model::Node &replaced_;
  std::vector<model::Node> nodes_;
};

/// Returns the shape to which the operands broadcast.
model::Shape broadcast(const model::Shape &a, const model::Shape &b);

} // namespace warpwright::rewrites
