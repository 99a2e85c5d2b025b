// A plan at given sizes: the one place where its expressions become numbers.
//
// Whoever runs a plan or writes it down takes the numbers from here: the runner binds places to addresses (runner/verify/bound_plan.h), the
// server writes them as Python and C++ (server/export). Thread: values, any; pure functions.
#pragma once

#include "support/error.h"
#include "support/model/task.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warpwright::plan {

/// Memory that steps name: the task's buffers in their order, then the plan's temporaries.
struct Place {
  enum class Kind { Argument, Output, Temporary };
  Kind kind = Kind::Argument; ///< Argument: the task's In and InOut buffers
  std::string name;
  model::Dtype dtype = model::Dtype::Float32;
  std::int64_t elements = 0;
  std::vector<std::int64_t> shape; ///< of torch tasks; else empty
  bool is_an_operators = false; ///< an ATen operator makes its memory, or publishes to it
  bool is_used = false;         ///< by any step
};

/// The address of an element.
struct PlaceArgument {
  std::size_t place = 0; ///< index into Program::places
  std::int64_t offset = 0; ///< elements
};
/// A number as the kernel's parameter takes it; integers lie within their dtype.
struct NumberArgument {
  model::Dtype dtype = model::Dtype::Int32;
  std::variant<std::int64_t, double> value; ///< double: of floating-point dtypes
  bool is_of_task = false;                  ///< a scalar of the task, which its fp64 reference takes as double
};
using Argument = std::variant<PlaceArgument, NumberArgument>;

struct Launch {
  std::size_t kernel = 0; ///< index into Program::kernels
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0; ///< dynamic
  bool cooperative = false;
  std::vector<Argument> arguments;
};
/// Sets every byte of a place.
struct Fill {
  std::size_t place = 0;
  unsigned char byte = 0;
};
/// Torch's steps have no expressions; they point into the plan.
using Step = std::variant<Launch, Fill, const model::AtenStep *, const model::ModuleStep *>;

/// What all launches of a kernel need of a device.
struct Kernel {
  std::string name;                  ///< the expression that launches it: "reduce<float, 256>"
  std::uint32_t shared_bytes = 0;    ///< dynamic, the most
  std::uint32_t threads = 1;         ///< of a block, the most
  std::uint64_t resident_blocks = 0; ///< that must be on the device at once, the most; 0: any
};

struct Program {
  std::vector<Place> places;
  std::vector<Kernel> kernels; ///< in the order of their first launches
  std::vector<Step> steps;

  /// The index of a place; nullopt: no buffer or temporary has this name.
  std::optional<std::size_t> find(std::string_view name) const;
};

/// @param plan outlives the result
/// Errors: what CUDA refuses at these sizes, an expression that they do not decide, or a name that is no buffer's or scalar's.
Result<Program> program_of(const model::Plan &plan, const model::Task &task,
                           const symbolic::Sizes &sizes);

/// Name expressions of the kernels that a plan launches, each once, in the order of their first launches.
std::vector<std::string> kernels_of(const model::Plan &plan);

/// The views among an operator's arguments, those in lists too; a view without a buffer is a None.
std::vector<const model::TensorView *> views_of(const model::AtenStep &step);

} // namespace warpwright::plan
