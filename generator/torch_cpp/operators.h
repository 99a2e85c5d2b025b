// Calls of ATen operators in C++, and which function turns which operator into nodes.
//
// Arguments have been bound to ATen's parameter names; the forms of torch::nn::functional bind to the same, their options by name. An
// operator in place (`add_`) is its functional form and a write. One table a kind of operator, each in a file of its own. Thread: one.
#pragma once

#include "generator/torch_cpp/graph_writer.h"
#include "generator/torch_cpp/value.h"

#include <span>
#include <string_view>

namespace warpwright::generator::torch_cpp {

class Call {
public:
  Call(GraphWriter &graph, std::string name, std::map<std::string, Value> arguments)
      : graph(graph), name(std::move(name)), arguments_(std::move(arguments)) {}

  GraphWriter &graph;
  const std::string name; ///< "softmax"

  bool has(const std::string &parameter) const { return (*this)[parameter].is_given(); }
  const Value &operator[](const std::string &parameter) const;
  bool is_tensor(const std::string &parameter) const { return (*this)[parameter].as<Tensor>(); }
  /// The node of a tensor argument.
  std::string tensor(const std::string &parameter);
  /// Likewise, cast; a number becomes a constant.
  std::string operand(const std::string &parameter, model::Dtype dtype);
  std::string as_operand(const Value &value, model::Dtype dtype);
  std::vector<std::string> tensors(const std::string &parameter);

  double number(const std::string &parameter, double fallback);
  std::int64_t integer(const std::string &parameter, std::int64_t fallback);
  bool flag(const std::string &parameter, bool fallback);
  std::optional<model::Dtype> dtype(const std::string &parameter = "dtype") const;
  /// Lists of whole numbers; nullopt where it is not given.
  std::optional<model::Shape> list(const std::string &parameter);
  /// `count` numbers; a single one stands for all.
  model::Shape list(const std::string &parameter, std::size_t count, const model::Shape &fallback);
  /// A dimension counted from the front.
  std::int64_t dim(const std::string &parameter, std::int64_t rank, std::int64_t fallback);
  /// Sorted; all of them where none is given.
  model::Shape dims(const std::string &parameter, std::int64_t rank);

  /// The dtype to which PyTorch promotes these arguments, tensors or numbers.
  model::Dtype promoted(std::initializer_list<const char *> parameters);

  Value made(std::string node) const { return Tensor(new Tracked{std::move(node)}); }
  Value several(std::vector<std::string> nodes) const;
  /// A result that shares memory with the argument.
  Value view(const std::string &parameter, std::function<std::string(const std::string &)> forward,
             std::function<std::string(const std::string &, const std::string &)> backward);
  /// @return what the handler is to give: an Unknown with the reason
  Value refuse(const std::string &why);
  const std::string &refusal() const { return refusal_; }
  /// Where what it needs became unknown; 0: the call itself is refused.
  std::size_t refused_line() const { return refused_line_; }

private:
  std::map<std::string, Value> arguments_;
  void refuse_argument(const Value &value, const std::string &why);

  std::string refusal_;
  std::size_t refused_line_ = 0;
};

struct Operator {
  std::string_view names;      ///< separated by spaces
  std::string_view parameters; ///< in ATen's order, separated by spaces
  Value (*handler)(Call &) = nullptr;
  std::string_view options = {}; ///< what arguments of its functional options' constructor set
};

/// nullptr where there is none of that name.
const Operator *find_operator(std::string_view name);

// The tables.
std::span<const Operator> pointwise_operators();
std::span<const Operator> activation_operators();
std::span<const Operator> view_operators();
std::span<const Operator> copy_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> product_operators();
std::span<const Operator> window_operators();
std::span<const Operator> norm_operators();
std::span<const Operator> loss_operators();

// What tables share.

/// torch.matmul of two values, vectors included.
std::string product_of(GraphWriter &graph, std::string first, std::string second);
/// Whether a dtype counts as floating; result dtype of an operator that gives floating point for integers too.
model::Dtype floating(model::Dtype dtype);

} // namespace warpwright::generator::torch_cpp
