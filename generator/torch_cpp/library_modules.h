// The modules of torch::nn: which tensors each holds, and which operator its forward calls.
//
// Options have ATen's names of parameters, or are translated to them. It leaves out recurrent modules and attention: a class that holds one
// is traced by a runner. Thread: one.
#pragma once

#include "generator/torch_cpp/graph_writer.h"
#include "generator/torch_cpp/value.h"

#include <optional>
#include <string_view>

namespace warpwright::generator::torch_cpp {

/// Makes what a module holds.
class ModuleMaker {
public:
  ModuleMaker(GraphWriter &graph, Object &object) : graph_(graph), object_(object) {}

  /// @return 0 after a refusal, where it is not given and there is no fallback
  std::int64_t integer(const std::string &option, std::optional<std::int64_t> fallback = {});
  bool flag(const std::string &option, bool fallback);
  /// `count` numbers; a single one stands for all.
  model::Shape list(const std::string &option, std::size_t count);
  void parameter(const std::string &name, model::Shape shape);
  void buffer(const std::string &name, model::Shape shape,
              model::Dtype dtype = model::Dtype::Float32);

  void refuse(const std::string &why);
  const std::string &refusal() const { return refusal_; }

private:
  void hold(const std::string &name, model::Shape shape, model::Dtype dtype, bool is_buffer);

  GraphWriter &graph_;
  Object &object_;
  std::string refusal_;
};

struct LibraryModule {
  std::string_view names;        ///< "BatchNorm1d BatchNorm2d"
  std::string_view function;     ///< that its forward calls; empty: the input is the result
  std::string_view options = {}; ///< what arguments of its options' constructor set, in order
  void (*hold)(ModuleMaker &) = nullptr; ///< null: it holds nothing
  bool takes_weight_first = false; ///< the function's first argument is the weight, not the input
};

/// @param name "Linear"
const LibraryModule *find_library_module(std::string_view name);

/// Options by name: those that a constructor was given by position, and those that were set.
/// @return nullopt: it was given something that is not known here
std::optional<Fields> options_of(const LibraryModule &kind, const std::vector<Value> &arguments);

/// A tensor without a value yet, a node of its own: what a constructor puts into a parameter does not matter.
std::string placeholder(GraphWriter &graph, model::Dtype dtype, const model::Shape &shape);

} // namespace warpwright::generator::torch_cpp
