// Composite operators (softmax, normalisations, norms) written out as reductions and pointwise operators: what Op::expand does.
// Thread: pure functions.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <optional>

namespace warpwright::ops {

class Expander {
public:
  /// Appends nodes to `graph` under names that begin with the composite node's. Values in between are float32 (float64 for float64),
  /// never rounded to half.
  /// @param x dtype of the node's first operand
  Expander(model::Graph &graph, const model::Node &node, model::Dtype x)
      : graph_(graph), node_(node),
        compute_(x == model::Dtype::Float64 ? model::Dtype::Float64 : model::Dtype::Float32) {}

  std::string constant(double value);
  std::string op(const std::string &op, std::vector<std::string> inputs, const model::Shape &shape,
                 model::Attributes attributes = {}) {
    return append(op, std::move(inputs), shape, std::move(attributes), compute_);
  }
  /// A node of booleans.
  std::string comparison(const std::string &op, std::vector<std::string> inputs,
                         const model::Shape &shape) {
    return append(op, std::move(inputs), shape, {}, model::Dtype::Bool);
  }
  /// A reduction that keeps its dimensions.
  std::string reduce(const std::string &op, const std::string &x, const model::Shape &shape,
                     const model::Shape &dims, model::Attributes attributes = {});
  /// The composite node's own result.
  void finish(const std::string &op, std::vector<std::string> inputs);

private:
  std::string append(const std::string &op, std::vector<std::string> inputs, model::Shape shape,
                     model::Attributes attributes, model::Dtype dtype);
  model::Graph &graph_;
  const model::Node &node_;
  model::Dtype compute_;
  int count_ = 0;
};

/// Writes a node out. @param x type of its first operand
/// @return names of results 1 and up, where it has several
/// Errors: operands or attributes with which it cannot be written out.
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
