// The table of operators: one row for each operator of a graph, with everything that rewrites, planning and families
// ask. The rows stand in table/, by kind. To add an operator, add its row: tests verify and plan its `example` and
// compare it with its reference, and the tracer reads the table from operators.json. tests/additions/ adds an operator
// in a scratch copy.
#pragma once

#include "generator/ops/bounds.h"
#include "generator/ops/expansion.h"
#include "generator/ops/formula.h"
#include "generator/ops/graph_index.h"
#include "generator/ops/index_map.h"
#include "generator/ops/library_call.h"
#include "support/error.h"

#include <concepts>
#include <string_view>
#include <vector>

namespace warpwright::ops {

/// Types of a node's results. Strides are empty, since they describe only PyTorch's memory layout.
using Types = std::vector<model::TensorType>;
/// Infers the types of a node's results.
/// @param operands types of the node's inputs, in order
/// Errors: the reason why the node is not well formed, without its name.
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
  Generated, ///< constants, which take no memory
  Opaque,    ///< a call of an ATen operator, or one of its results
  Pointwise, ///< one element from one element of each operand, which broadcast
  View,      ///< elements of the operands in other places, or a fixed value
  Indexed,   ///< elements of the first operand at places that the second operand gives
  Scatter,   ///< elements added at places that an operand gives
  Reduction, ///< one element from all elements along some dimensions
  Scan,      ///< running sums, products, extremes
  Selection, ///< places of some elements along a dimension
  Norm,      ///< written out as reductions and pointwise operators: softmax, layer_norm, ...
  Product,   ///< matmul, attention, convolution
  Window,    ///< pools and upsampling
  Internal   ///< used by plans only, in no traced graph
};

/// Cost of computing an element of an inline node again, in floating-point operations.
enum Recompute { Free = 0, Cheap = 1, Address = 4, Expensive = 10 };

/// Infers bounds of a result from bounds of the node's inputs.
using InferBounds = Bounds (*)(const model::Node &node, std::span<const Bounds> operands);

/// Returns the floating-point operations of a node.
using Flops = double (*)(const GraphIndex &index, const model::Node &node);

/// Writes the CUDA text of an operator without a formula.
/// @param second node of the second operand; null where there is none
/// @param operands texts of the dtype that the node computes in
using WriteElement = std::string (*)(const model::Node &node, const model::Node *second,
                                     std::span<const ElementText> operands);

/// Result of a reduction. Reductions that are written out as simpler operators have None.
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

/// Value of a pointwise operator, written independently of its formula, so that tests can check the formula.
using Reference = double (*)(const model::Node &node, std::span<const double> operands);

struct Op {
  std::string_view name;
  Kind kind = Kind::Opaque;
  std::size_t least_operands = 0, most_operands = 0;
  std::vector<AttributeRule> attributes = {};
  InferTypes infer = nullptr;
  FromResult from_result = nullptr; ///< for views with one operand
  ToResult to_result = nullptr;
  Reduction reduction = Reduction::None;
  Expand expand = nullptr;       ///< writes the node out as simpler operators
  CallLibrary library = nullptr; ///< calls PyTorch's operator; null: families lower the node
  Recompute recompute = Free;
  Flops flops = nullptr; ///< null: one per element read or written, whichever are more
  Formula formula = {};
  WriteElement write = nullptr; ///< replaces the formula's text
  InferBounds bounds = nullptr; ///< null: nothing is known
  bool compares = false;        ///< gives a boolean from operands of one common dtype
  bool logical = false;         ///< takes its operands as booleans
  bool integral = false;        ///< takes the bits of integers
  InMemory strided = nullptr; ///< for views that PyTorch makes without copying
  bool selects = false;         ///< may leave elements of its first operand unread
  bool moves = false;           ///< its elements are its operand's, in other places
  bool keeps_uniform = false;   ///< gives c everywhere when its operand is c everywhere
  Reference reference = nullptr;
  Bounds domain =
      {}; ///< range of operands that tests draw; outside, values are undefined or magnify rounding
  /// A node of this operator as text over kExampleLeaves, which tests verify, plan and compare with its reference.
  /// Pointwise operators need none, since their tests are made from the row.
  std::string_view example = {};
  std::string_view meaning =
      {}; ///< the result in words, for operators that docs/internals/op-graph.md does not name

  /// Sets the reference.
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
  Op gives(std::string_view words) && {
    meaning = words;
    return std::move(*this);
  }
  Op for_example(std::string_view node) && {
    example = node;
    return std::move(*this);
  }
};

/// Leaves that examples of operators read: values of several shapes, a condition, and indices that are valid for %m.
inline constexpr std::string_view kExampleLeaves = R"(
%x: f32[2,6,8,9] = input
%m: f32[4,6] = input
%v: f32[6] = parameter
%b: bool[4,6] = input
%i: i64[4,2] = input
%j: i64[3] = constant {values="[0,2,1]"}
)";

inline constexpr std::size_t kAnyNumber = 65536;

/// Returns the row of an operator, or nullptr where no operator has that name.
const Op *find_op(std::string_view name);
/// Returns the row of a node of a verified graph.
const Op &op_of(const model::Node &node);
/// Returns all operators of traced graphs, sorted by name.
const std::vector<const Op *> &all_ops();

} // namespace warpwright::ops
