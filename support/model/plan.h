// Plan: device source and steps over named buffers that compute a task.
//
// A candidate is data (ARCHITECTURE.md, invariant 1): a proposer submits a plan, not host code,
// except for a ModuleStep with `source`. Buffer names are the task's, or the plan's own
// temporaries. Thread: values, any.
#pragma once

#include "support/symbolic/expression.h"
#include "support/model/dtype.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace warpwright::model {

/// Positions of a convolution's window on an image, which tiles of an im2col map enumerate: the column is the fastest,
/// then the row, the depth and the image. One number a spatial dimension, columns first. CUDA driver API,
/// cuTensorMapEncodeIm2col.
struct MapWindow {
  std::vector<std::int64_t> first; ///< first position of the window's first tap, the negative padding
  std::vector<std::int64_t> last;  ///< last position, relative to the image's last element
  std::vector<std::int64_t> steps; ///< from position to position, 1 to 8 elements
  bool operator==(const MapWindow &) const = default;
};
/// A buffer as the bulk copy engine reads it: tiles of an array of one to five dimensions, the
/// innermost first, in the buffer's dtype. Elements outside the extents read as zero. CUDA driver API,
/// cuTensorMapEncodeTiled.
struct TensorMap {
  std::vector<symbolic::Expression> extents; ///< elements
  std::vector<symbolic::Expression> strides; ///< elements, of all dimensions but the innermost
  /// Extents of a tile, 1 to 256 elements each. With a window: channels, and positions of the window, up to 1024.
  std::vector<std::int64_t> box;
  int swizzle_bytes = 0; ///< 0, 32, 64 or 128: rows of a tile in shared memory whose 16-byte parts are permuted
  bool rounds_to_tf32 = false; ///< of float32: copies round to the nearest TF32 number
  std::optional<MapWindow> window = std::nullopt; ///< the array is images of channels, columns, rows (, depths)
  bool operator==(const TensorMap &) const = default;
};
/// Kernel argument: a pointer into a buffer; with a map, a CUtensorMap of the memory from there on.
struct BufferArgument {
  std::string buffer;
  symbolic::Expression offset; ///< in elements, added to the buffer's start
  std::optional<TensorMap> map = std::nullopt;
  bool operator==(const BufferArgument &) const = default;
};
struct ScalarArgument {
  std::string scalar; ///< name of a scalar of the task
  bool operator==(const ScalarArgument &) const = default;
};
/// Kernel argument: an integer computed from the sizes.
struct SizeArgument {
  symbolic::Expression value;
  Dtype dtype = Dtype::Int32;
  bool operator==(const SizeArgument &) const = default;
};
/// Kernel argument: a literal, for floating-point constants at a launch: scale(x, 0.5f).
struct ConstantArgument {
  double value = 0;
  Dtype dtype = Dtype::Float32;
  bool operator==(const ConstantArgument &) const = default;
};
using PlainArgument = std::variant<BufferArgument, ScalarArgument, SizeArgument, ConstantArgument>;
/// Kernel argument: a struct passed by value, of addresses and numbers at their places. All other
/// bytes are zero.
struct StructArgument {
  struct Field {
    std::int64_t offset = 0; ///< bytes from the start of the struct
    PlainArgument value;     ///< without a map
    bool operator==(const Field &) const = default;
  };
  std::int64_t size_bytes = 1;
  std::vector<Field> fields;
  bool operator==(const StructArgument &) const = default;
};
using Argument = std::variant<BufferArgument, ScalarArgument, SizeArgument, ConstantArgument, StructArgument>;


struct LaunchStep {
  std::string kernel; ///< C++ name expression: "saxpy", "reduce<float, 256>", "ns::k"
  std::array<symbolic::Expression, 3> grid{1, 1, 1};
  std::array<symbolic::Expression, 3> block{1, 1, 1};
  symbolic::Expression shared_bytes; ///< dynamic shared memory, bytes
  std::vector<Argument> arguments;
  /// Cooperative launch: the blocks wait for each other, so all of them must be on the device at
  /// once. A launch that does not fit is refused before it starts; generated kernels do not trap or
  /// wait forever.
  bool cooperative = false;
  /// The launch may begin while the one before it ends (programmatic dependent launch): its kernel
  /// executes griddepcontrol.wait before it touches memory.
  bool overlapped = false;
  bool operator==(const LaunchStep &) const = default;
};

/// Sets every byte of a buffer, as cudaMemset does.
struct FillStep {
  std::string buffer;
  int byte = 0; ///< 0..255
  bool operator==(const FillStep &) const = default;
};

/// A buffer, or a part of one, as a tensor of the buffer's dtype.
struct TensorView {
  std::string buffer;
  std::int64_t offset = 0;                  ///< elements
  std::vector<std::int64_t> shape, strides; ///< strides in elements; empty: contiguous
  bool operator==(const TensorView &) const = default;
};
/// None, a tensor, tensors or a value, by the operator's schema. A string names an enumerator or a
/// dtype. In a list of tensors, a view without a buffer is None (JSON: null), as in index() of some
/// dimensions.
using AtenArgument = std::variant<std::monostate, TensorView, std::vector<TensorView>, bool,
                                  std::int64_t, double, std::vector<std::int64_t>, std::string>;

/// Library step: one call of an ATen operator from the list of pure ones in
/// support/model/aten_operators.h. The worker's torch runs the call under the framework flags of
/// the task's own module. Workers without torch refuse it.
struct AtenStep {
  std::string op;                      ///< with overload: "aten::convolution", "aten::add.Tensor"
  std::vector<AtenArgument> arguments; ///< positional
  std::map<std::string, AtenArgument> keywords;
  /// Views of the results, which must have these shapes and strides. A result is the whole of its
  /// buffer: the buffer's extent reaches from the result's first element to its last. A temporary
  /// named here is the operator's own memory, and no other step writes it. Unused results are left
  /// out at the end, or are views without a buffer (JSON: null).
  std::vector<TensorView> results;
  bool operator==(const AtenStep &) const = default;
};

/// Call of a torch module as in the user's program. Without `source` it calls the task's own
/// module, which only a task's reference may do. With `source` it calls another system's module.
/// Such a module is host code: it is the only step of a candidate, runs in a process of its own
/// that holds nothing else (docs/use/candidates.md), and only if VerifyOptions::host_code is set.
struct ModuleStep {
  bool compiled = false;          ///< under torch.compile; only for the task's module
  std::string source;             ///< text of a Python file; empty: the task's module
  std::string model = "ModelNew"; ///< the class in `source`
  std::string mode = {};          ///< of torch.compile; empty: its default
  /// True: `source` is an export of a plan of ours. Each call must be answered by its kernels.
  bool exported = false;
  std::map<std::string, std::string> files =
      {}; ///< beside `source`, by name: an export's plan file
  bool operator==(const ModuleStep &) const = default;
};

/// Calls `visit` with each argument that is not a struct, and with each field of the structs.
template <class Arguments, class Visit> void for_each_plain(Arguments &arguments, const Visit &visit) {
  for (auto &argument : arguments)
    std::visit(
        [&](auto &one) {
          if constexpr (requires { one.fields; })
            for (auto &field : one.fields)
              std::visit(visit, field.value);
          else
            visit(one);
        },
        argument);
}

using Step = std::variant<LaunchStep, FillStep, AtenStep, ModuleStep>;

/// Scratch memory of the plan, uninitialized (poisoned by the runner) before each run.
struct Temporary {
  std::string name;
  Dtype dtype = Dtype::Float32;
  symbolic::Expression extent; ///< elements
  bool operator==(const Temporary &) const = default;
};

struct Plan {
  std::string source;               ///< CUDA C++ device source; `#include`s of the toolkit only
  std::vector<std::string> options; ///< NVRTC options from the schema's list: "-std=c++17", "-DTILE=16"
  std::vector<Temporary> temporaries;
  std::vector<Step> steps; ///< run in this order on one stream
  std::vector<std::string>
      moves; ///< moves that lead from the reference to the plan; empty for the reference
  /// Each kernel may be compiled by itself, with the declarations that it names (runner/cuda/kernel_parts.h). Only for
  /// sources that the plan builder wrote: what another author wrote could mean something else in parts.
  bool separable = false;
  bool operator==(const Plan &) const = default;
};

/// Whether the plan is another system's module.
bool is_host_code(const Plan &plan);
/// True if the plan is an export of ours as host code.
bool is_export(const Plan &plan);

} // namespace warpwright::model
