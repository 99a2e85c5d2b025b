// Expansion of composite operators (softmax, normalizations, norms) into simpler operators, for Op::expand.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <optional>

namespace warpwright::ops {

class Expander {
public:
  /// Appends nodes to `graph` under names that begin with the composite node's name. Intermediate values are float32
  /// (float64 for float64), never rounded to half.
  /// @param x dtype of the node's first operand
  Expander(model::Graph &graph, const model::Node &node, model::Dtype x)
      : graph_(graph), node_(node),
        compute_(x == model::Dtype::Float64 ? model::Dtype::Float64 : model::Dtype::Float32) {}

  std::string constant(double value);
  std::string op(const std::string &op, std::vector<std::string> inputs, const model::Shape &shape,
                 model::Attributes attributes = {}) {
    return append(op, std::move(inputs), shape, std::move(attributes), compute_);
  }
  /// Appends a node of booleans.
  std::string comparison(const std::string &op, std::vector<std::string> inputs,
                         const model::Shape &shape) {
    return append(op, std::move(inputs), shape, {}, model::Dtype::Bool);
  }
  /// Appends a reduction that keeps its dimensions.
  std::string reduce(const std::string &op, const std::string &x, const model::Shape &shape,
                     const model::Shape &dims, model::Attributes attributes = {});
  /// Appends the composite node's own result.
  void finish(const std::string &op, std::vector<std::string> inputs);

private:
  std::string append(const std::string &op, std::vector<std::string> inputs, model::Shape shape,
                     model::Attributes attributes, model::Dtype dtype);
  model::Graph &graph_;
  const model::Node &node_;
  model::Dtype compute_;
  int count_ = 0;
};

/// Writes a node as simpler operators. @param x type of its first operand
/// @return names of results 1 and up, for a node with several results
/// Errors: operands or attributes for which there is no expansion.
using Expand = Result<std::vector<std::string>> (*)(Expander &out, const model::Node &node,
                                                    const model::TensorType &x);

namespace expansion {

Result<std::vector<std::string>> softmax(Expander &, const model::Node &, const model::TensorType &);
Result<std::vector<std::string>> log_softmax(Expander &, const model::Node &, const model::TensorType &);
Result<std::vector<std::string>> logsumexp(Expander &, const model::Node &, const model::TensorType &);
Result<std::vector<std::string>> norm(Expander &, const model::Node &, const model::TensorType &);
Result<std::vector<std::string>> layer_norm(Expander &, const model::Node &, const model::TensorType &);
Result<std::vector<std::string>> group_norm(Expander &, const model::Node &, const model::TensorType &);
Result<std::vector<std::string>> batch_norm(Expander &, const model::Node &, const model::TensorType &);

} // namespace expansion
} // namespace warpwright::ops
