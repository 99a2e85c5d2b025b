// A plan evaluated at given sizes: all its expressions as numbers.
//
// Both users of a plan take its numbers from here: the runner binds places to addresses
// (runner/verify/bound_plan.h), and the server writes them as Python and C++ (server/export).
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

/// Memory that steps refer to. A program lists the task's buffers in their order, then the plan's temporaries.
struct Place {
  enum class Kind { Argument, Output, Temporary };
  Kind kind = Kind::Argument; ///< Argument: the task's In and InOut buffers
  std::string name;
  model::Dtype dtype = model::Dtype::Float32;
  std::int64_t elements = 0;
  std::vector<std::int64_t> shape; ///< empty unless the task is a torch task
  bool is_an_operators = false; ///< an ATen operator allocates its memory, or publishes to it
  bool is_used = false;         ///< some step uses it
};

/// model::TensorMap with its numbers.
struct TensorMap {
  model::Dtype dtype = model::Dtype::Float32;
  std::vector<std::int64_t> extents, strides, box; ///< elements; strides without the innermost
  int swizzle_bytes = 0;
  bool rounds_to_tf32 = false;
  std::optional<model::MapWindow> window = std::nullopt;
  bool operator==(const TensorMap &) const = default;

  /// CUtensorMapDataType; -1 for dtypes that maps do not have.
  int driver_dtype() const;
  /// CUtensorMapSwizzle
  int driver_swizzle() const;
  std::vector<std::int64_t> strides_bytes() const;
};
/// The address of one element of a place, or a tensor map of the memory from there on.
struct PlaceArgument {
  std::size_t place = 0; ///< index into Program::places
  std::int64_t offset = 0; ///< elements
  std::optional<TensorMap> map = std::nullopt;
};
/// A number in the dtype of the kernel's parameter; integers are within its range.
struct NumberArgument {
  model::Dtype dtype = model::Dtype::Int32;
  std::variant<std::int64_t, double> value; ///< double for floating-point dtypes
  bool is_of_task = false;                  ///< a scalar of the task, which the fp64 reference reads as double
};
using PlainArgument = std::variant<PlaceArgument, NumberArgument>;
/// A struct passed by value: the fields and their places in bytes; other bytes are zero.
struct StructArgument {
  std::uint32_t size_bytes = 0;
  std::vector<std::pair<std::uint32_t, PlainArgument>> fields;
};
using Argument = std::variant<PlaceArgument, NumberArgument, StructArgument>;

struct Launch {
  std::size_t kernel = 0; ///< index into Program::kernels
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::uint32_t shared_bytes = 0; ///< dynamic shared memory
  bool cooperative = false, overlapped = false;
  std::vector<Argument> arguments;
};
/// A step that sets every byte of a place.
struct Fill {
  std::size_t place = 0;
  unsigned char byte = 0;
};
/// One step of a program. Torch's steps have no expressions, so they point into the plan.
using Step = std::variant<Launch, Fill, const model::AtenStep *, const model::ModuleStep *>;

/// The largest resources that any launch of a kernel needs.
struct Kernel {
  std::string name;                  ///< name expression: "reduce<float, 256>"
  std::uint32_t shared_bytes = 0;    ///< maximum of dynamic shared memory
  std::uint32_t threads = 1;         ///< maximum per block
  std::uint64_t resident_blocks = 0; ///< maximum that must be resident at once; 0: no such need
};

struct Program {
  std::vector<Place> places;
  std::vector<Kernel> kernels; ///< in the order of their first launches
  std::vector<Step> steps;

  /// The index of the place of this name; nullopt when no buffer or temporary has the name.
  std::optional<std::size_t> find(std::string_view name) const;
};

/// The plan at these sizes. @param plan must outlive the result
/// Errors: a launch that CUDA refuses, an expression that the sizes do not determine, an unknown buffer or scalar.
Result<Program> program_of(const model::Plan &plan, const model::Task &task,
                           const symbolic::Sizes &sizes);

/// Name expressions of the kernels that a plan launches, without repeats, in the order of their first launches.
std::vector<std::string> kernels_of(const model::Plan &plan);

/// The views among an operator's arguments, including those in lists; a view without a buffer stands for None.
std::vector<const model::TensorView *> views_of(const model::AtenStep &step);

} // namespace warpwright::plan
