// The table of graph operators, one row each. docs/internals/op-graph.md describes the operators;
// rewrites, planning and families read the rows.
//
// Rows stand in table/, by kind. An operator is added by adding its row. Thread: immutable.
#pragma once

#include "generator/ops/bounds.h"
#include "generator/ops/expansion.h"
#include "generator/ops/formula.h"
#include "generator/ops/index_map.h"
#include "generator/ops/library_call.h"
#include "support/error.h"

#include <concepts>
#include <string_view>
#include <vector>

namespace warpwright::generator {

/// Types of results; strides are left empty, since they say only how PyTorch lays values out.
using Types = std::vector<model::TensorType>;
/// @param operands types of the node's inputs, in order
/// Errors: why the node is not well formed, without its name.
using InferTypes = Result<Types> (*)(const model::Node &node, const Types &operands);

enum class AttributeKind {
  Flag,    ///< bool
  Integer, ///< int64
  Number,  ///< double, or an integer
  Text,
  List ///< integers
};

struct AttributeRule {
  std::string_view name;
  AttributeKind kind = AttributeKind::Integer;
  bool required = true;
};

enum class Kind {
  Buffer,    ///< memory of the task
  Generated, ///< no memory at all: constants
  Opaque,    ///< a call of an ATen operator, or one of its results
  Pointwise, ///< one element from one element of each operand, which broadcast
  View,      ///< elements of the operands in other places, or a fixed value
  Indexed,   ///< an element from where an index says
  Scatter,   ///< elements added where an index says
  Reduction, ///< one element from those along dimensions
  Scan,
  Norm, ///< written out as reductions and pointwise operators: softmax, layer_norm, ...
  Product,
  Window,
  Internal ///< a plan's own, in no traced graph
};

/// What computing an element of an inline node again costs, in floating-point operations.
enum Recompute { Free = 0, Cheap = 1, Address = 4, Expensive = 10 };

/// @param operands bounds of the node's inputs
using InferBounds = Bounds (*)(const model::Node &node, std::span<const Bounds> operands);

/// CUDA text that no formula gives. @param operands of the dtype that the node computes in; `second`: the second operand's node, or null
using WriteElement = std::string (*)(const model::Node &node, const model::Node *second,
                                     std::span<const ElementText> operands);

/// What a reduction along dimensions gives; those that are written out as simpler operators have none.
enum class Reduction {
  None,
  Sum,
  Mean,
  Maximum,
  Minimum,
  Product,
  Any,
  All,
  Variance,
  ArgMaximum,
  ArgMinimum
};

/// A value of a pointwise operator, written independently of its formula: tests judge by it.
using Reference = double (*)(const model::Node &node, std::span<const double> operands);

struct Op {
  std::string_view name;
  Kind kind = Kind::Opaque;
  std::size_t least_operands = 0, most_operands = 0;
  std::vector<AttributeRule> attributes = {};
  InferTypes infer = nullptr;
  FromResult from_result = nullptr; ///< of views with one operand
  ToResult to_result = nullptr;
  Reduction reduction = Reduction::None;
  Expand expand = nullptr; ///< writes it out as simpler operators
  CallLibrary library = nullptr; ///< PyTorch's operator; null: families lower it
  Recompute recompute = Free;
  Formula formula = {};
  WriteElement write = nullptr; ///< instead of the formula's text
  InferBounds bounds = nullptr; ///< null: any
  bool compares = false;        ///< its operands' common dtype is not its result's
  bool logical = false;         ///< of operands as booleans
  bool strided = false;         ///< a view that PyTorch makes without copying, whatever the strides
  bool selects = false;         ///< may leave elements of its first operand unread
  bool moves = false;           ///< its elements are its operand's, in other places
  /// Of an operand that is one number everywhere, each result is that number.
  bool keeps_uniform = false;
  Reference reference = nullptr;
  Bounds domain = {}; ///< of operands that tests draw: beyond it has no value, or magnifies rounding

  /// @param value double(double), double(double, double) or double(const Node &, double), without captures
  template <class Value> Op judged_by(Value) && {
    reference = [](const model::Node &node, std::span<const double> x) -> double {
      if constexpr (std::invocable<Value, const model::Node &, double>)
        return Value{}(node, x[0]);
      else if constexpr (std::invocable<Value, double, double>)
        return Value{}(x[0], x[1]);
      else
        return Value{}(x[0]);
    };
    return std::move(*this);
  }
  Op within(Bounds values) && {
    domain = values;
    return std::move(*this);
  }
};

inline constexpr std::size_t kAnyNumber = 65536;

/// nullptr where there is no such operator.
const Op *find_op(std::string_view name);
/// Of a node of a graph that was verified.
const Op &op_of(const model::Node &node);
/// All operators of traced graphs, by name.
const std::vector<const Op *> &all_ops();

} // namespace warpwright::generator
