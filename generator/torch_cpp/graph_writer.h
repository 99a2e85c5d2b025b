// Holds the nodes of a graph under construction, and writes the small steps that operators compose.
//
// A value is the name of a node. Types follow from infer_types; steps that change nothing (a reshape to the same shape, a cast to the same
// dtype) add no node. Numbering of names is the Python tracer's (runner/torch/python/tracing/builder.py), so that both give one text.
// The first node that is not well formed is kept as the error; what follows is then of no use. Thread: one.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"

#include <optional>
#include <unordered_map>

namespace warpwright::generator::torch_cpp {

class GraphWriter {
public:
  /// A leaf; its name is `torch_name` as an identifier, where that is free.
  std::string leaf(const std::string &op, const std::string &torch_name, model::TensorType type);

  model::Dtype dtype(const std::string &value) const { return type(value).dtype; }
  const model::Shape &shape(const std::string &value) const { return type(value).shape; }
  std::int64_t rank(const std::string &value) const {
    return static_cast<std::int64_t>(shape(value).size());
  }
  std::int64_t elements(const std::string &value) const { return model::elements_of(shape(value)); }

  /// A node whose type follows from its operands.
  std::string emit(const std::string &op, std::vector<std::string> inputs,
                   model::Attributes attributes = {});
  /// A node that states its type.
  std::string stated(const std::string &op, std::vector<std::string> inputs,
                     model::Attributes attributes, model::TensorType type);
  /// Result `index` of a node that emit() gave.
  std::string item(const std::string &several, std::int64_t index);

  /// A scalar of shape []; the same one for the same value and dtype.
  std::string constant(double value, model::Dtype dtype);
  std::string integer_constant(std::int64_t value, model::Dtype dtype);
  /// int64, of shape [n].
  std::string index_constant(const model::Shape &values);
  std::string iota(std::int64_t length);

  std::string cast(const std::string &x, model::Dtype dtype);
  std::string reshape(const std::string &x, model::Shape shape);
  std::string permute(const std::string &x, const model::Shape &dims);
  std::string expand(const std::string &x, const model::Shape &shape);
  std::string slice(const std::string &x, std::int64_t dim, std::int64_t start, std::int64_t stop,
                    std::int64_t step = 1);
  std::string select(const std::string &x, std::int64_t dim, std::int64_t index);
  std::string unsqueeze(const std::string &x, std::int64_t dim);
  std::string cat(std::vector<std::string> values, std::int64_t dim);
  std::string index_select(const std::string &x, std::int64_t dim, const std::string &index);

  std::string unary(const std::string &op, const std::string &x, model::Attributes attributes = {});
  /// Of operands of one dtype.
  std::string binary(const std::string &op, const std::string &a, const std::string &b);
  /// The number is a constant of x's dtype.
  std::string binary(const std::string &op, const std::string &x, double number);
  std::string binary(const std::string &op, double number, const std::string &x);
  std::string where(const std::string &condition, const std::string &a, const std::string &b);
  /// @param dims empty: all
  std::string reduce(const std::string &op, const std::string &x, model::Shape dims, bool keepdim,
                     model::Attributes attributes = {});

  /// What was wrong with the first node that was not well formed.
  const std::optional<Error> &error() const { return error_; }
  std::size_t size() const { return nodes_.size(); }
  /// What nothing needs is left out; leaves stay, and come first.
  model::Graph graph(std::vector<std::string> outputs, std::vector<model::Update> updates) const;
  const model::Node &node(const std::string &value) const;

private:
  const model::TensorType &type(const std::string &value) const;
  std::string add(model::Node node);
  /// Of a slice or a concatenation along the same dimension, so that writes to one slice after another become one concatenation.
  std::optional<std::string> slice_of_part(const std::string &x, std::int64_t dim,
                                           std::int64_t start, std::int64_t stop);
  std::string free_name(const std::string &op);
  void set_strides(const std::string &value, model::Shape strides);

  std::vector<model::Node> nodes_;
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_map<std::string, int> counts_;
  std::map<std::pair<std::string, model::Dtype>, std::string> constants_;
  std::optional<Error> error_;
};

/// As a C identifier that device source can hold.
std::string identifier(const std::string &text);

} // namespace warpwright::generator::torch_cpp
