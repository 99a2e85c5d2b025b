// A plan: how something is computed. Device source and steps over named buffers, and nothing else.
//
// A candidate is data (ARCHITECTURE.md, invariant 1): no host code of a proposer ever runs, so a plan is all
// that a proposer can hand in. Buffer names are the task's, or the plan's own temporaries.
// Thread: values, any.
#pragma once

#include "support/symbolic/expression.h"
#include "support/model/dtype.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace warpwright::model {

/// One kernel argument. Exactly one alternative of what the kernel's parameter takes.
struct BufferArgument {
  std::string buffer;
  symbolic::Expression offset; ///< in elements, added to the buffer's start
  bool operator==(const BufferArgument &) const = default;
};
struct ScalarArgument {
  std::string scalar; ///< name of a scalar of the task
  bool operator==(const ScalarArgument &) const = default;
};
/// An integer computed from the sizes.
struct SizeArgument {
  symbolic::Expression value;
  Dtype dtype = Dtype::Int32;
  bool operator==(const SizeArgument &) const = default;
};
/// A literal, for floating-point constants at a launch: scale(x, 0.5f).
struct ConstantArgument {
  double value = 0;
  Dtype dtype = Dtype::Float32;
  bool operator==(const ConstantArgument &) const = default;
};
using Argument = std::variant<BufferArgument, ScalarArgument, SizeArgument, ConstantArgument>;

struct LaunchStep {
  std::string kernel; ///< name expression as C++ spells it: "saxpy", "reduce<float, 256>", "ns::k"
  std::array<symbolic::Expression, 3> grid{1, 1, 1};
  std::array<symbolic::Expression, 3> block{1, 1, 1};
  symbolic::Expression shared_bytes; ///< dynamic shared memory, bytes
  std::vector<Argument> arguments;
  /// Its blocks wait for each other, so that all must be on the device at once: a cooperative launch. Where they do not fit the launch
  /// is refused before it starts; no kernel of ours traps or waits in vain.
  bool cooperative = false;
  bool operator==(const LaunchStep &) const = default;
};

/// Sets every byte of a buffer, as cudaMemset does.
struct FillStep {
  std::string buffer;
  int byte = 0; ///< 0..255
  bool operator==(const FillStep &) const = default;
};

/// A buffer, or a part of one, seen as a tensor of its dtype.
struct TensorView {
  std::string buffer;
  std::int64_t offset = 0;                  ///< elements
  std::vector<std::int64_t> shape, strides; ///< strides in elements; empty: contiguous
  bool operator==(const TensorView &) const = default;
};
/// None, a tensor, tensors, or a value, as the operator's schema asks; a string names an enumeration or a dtype. Among tensors a view
/// without a buffer is a None (JSON: null), as in index() of some dimensions.
using AtenArgument = std::variant<std::monostate, TensorView, std::vector<TensorView>, bool,
                                  std::int64_t, double, std::vector<std::int64_t>, std::string>;

/// A library step: one call of an ATen operator, from the list of pure ones in support/model/aten_operators.h, by the torch
/// of the worker and under the framework flags of the task's own module. Workers without torch refuse it.
struct AtenStep {
  std::string op;                      ///< with overload: "aten::convolution", "aten::add.Tensor"
  std::vector<AtenArgument> arguments; ///< positional
  std::map<std::string, AtenArgument> keywords;
  /// Where its results are from then on; they must come with these shapes and strides, and a result is the whole of its buffer
  /// (its extent reaches from the result's first element to its last). A temporary named here is the operator's own memory, and is
  /// written by nothing else. Results that nobody wants are left out at the end, or are views without a buffer (JSON: null).
  std::vector<TensorView> results;
  bool operator==(const AtenStep &) const = default;
};

/// A call of a torch module as the user's program makes it: the task's own, which only a task's reference may call; or, with `source`,
/// another system's answer to the task. Such an answer is host code: it is the only step of a candidate, runs in a process of its own
/// that holds nothing else (docs/candidates.md), and only where VerifyOptions::host_code asks for it.
struct ModuleStep {
  bool compiled = false;          ///< under torch.compile; of the task's own
  std::string source;             ///< text of a Python file; empty: the task's module
  std::string model = "ModelNew"; ///< the class in `source`
  bool operator==(const ModuleStep &) const = default;
};

using Step = std::variant<LaunchStep, FillStep, AtenStep, ModuleStep>;

/// Scratch memory of the plan, uninitialised (poisoned by the runner) before each run.
struct Temporary {
  std::string name;
  Dtype dtype = Dtype::Float32;
  symbolic::Expression extent; ///< elements
  bool operator==(const Temporary &) const = default;
};

struct Plan {
  std::string source;               ///< CUDA C++ device source; `#include`s of the toolkit only
  std::vector<std::string> options; ///< of NVRTC, from the schema's list: "-std=c++17", "-DTILE=16"
  std::vector<Temporary> temporaries;
  std::vector<Step> steps; ///< run in this order on one stream
  std::vector<std::string>
      moves; ///< how it was made from the reference; empty for the reference itself
  bool operator==(const Plan &) const = default;
};

/// Whether it is another system's module.
bool is_host_code(const Plan &plan);

} // namespace warpwright::model
