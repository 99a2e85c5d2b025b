// From a call's arguments to a graph: inputs and state become leaves, and what the function returned its outputs. Thread: one.
#pragma once

#include "generator/torch_cpp/functions.h"

namespace warpwright::generator::torch_cpp {

class GraphLeaves {
public:
  GraphLeaves(GraphWriter &writer, const std::vector<Input> &inputs);

  /// A tensor that an object holds under that name becomes a leaf, whatever its constructor put into it; one that has two names keeps the
  /// first.
  void add_state(const std::string &torch_name, const Tensor &tensor);
  const std::vector<Value> &arguments() const { return arguments_; }

  /// @param returned by `function`, whose body `interpreter` has followed
  FunctionGraph finished(const analysis::ParsedUnit &unit, const clang::FunctionDecl &function,
                         const Interpreter &interpreter, const Value &returned) const;

private:
  model::Buffer buffer(const std::string &name, const std::string &torch_name,
                       const std::string &node, model::Direction direction) const;

  GraphWriter &writer_;
  std::vector<Value> arguments_;
  std::vector<std::pair<std::string, Tensor>> leaves_; ///< name of the node, its tensor
};

} // namespace warpwright::generator::torch_cpp
