// Task: the required computation, its sizes and data, and the required accuracy.
//
// The reference is itself a plan, cut from the user's source, so that reference and candidate run
// through the same executor. The reference of a torch task is a call of its module. Thread: values,
// any.
#pragma once

#include "support/model/plan.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::model {

enum class Direction { In, Out, InOut };

/// Distribution of a buffer's values. The runner draws with several seeds, and for Normal also at
/// several scales.
struct Distribution {
  static constexpr std::size_t kQuantiles = 33;
  enum class Kind {
    Normal,   ///< mean 0, standard deviation 1
    Uniform,  ///< [0, 1)
    Positive, ///< [0.5, 1.5): for divisors and arguments of sqrt and log
    Integers, ///< uniform in [lower, upper): indices, keys, class labels
    Zeros,    ///< accumulators that the caller clears
    Quantiles,   ///< each element at random by `quantiles`: values as a run of the program had them
    Sorted,      ///< by `quantiles`, in ascending order, with both ends: row offsets, sorted keys
    Permutation, ///< the integers from `lower` on, each once
    Module,      ///< inputs or initial parameters as the task's torch module makes them
  };
  Kind kind = Kind::Normal;
  symbolic::Expression lower;      ///< integers
  symbolic::Expression upper{256}; ///< integers, exclusive; not for Permutation
  /// Quantiles and Sorted: kQuantiles values at equal steps, ascending. Of integers they are places in their range: 0
  /// stands for `lower`, 1 for `upper` - 1.
  std::vector<double> quantiles;
  bool operator==(const Distribution &) const = default;
};

struct Buffer {
  static constexpr std::size_t kMostLanes = 14;
  std::string name;
  Dtype dtype = Dtype::Float32;
  symbolic::Expression extent; ///< elements
  Direction direction = Direction::In;
  Distribution distribution;
  std::vector<std::int64_t>
      shape; ///< torch tasks, whose tensors are contiguous; empty: flat, or a scalar tensor
  std::string torch_name; ///< torch tasks: "x", "conv1.weight"; empty: `name`
  /// The dtypes of one struct's elements, if the buffer is an array of structs with several dtypes. All are as
  /// wide as `dtype`, which is one of them. Empty: all elements are of `dtype`.
  std::vector<Dtype> lanes = {};
  bool operator==(const Buffer &) const = default;
};

struct Scalar {
  std::string name;
  Dtype dtype = Dtype::Float32;
  std::variant<symbolic::Expression, double>
      value; ///< Expression for integers, double for floating point
  bool operator==(const Scalar &) const = default;
};

/// Element-wise: |candidate - expected| <= absolute + relative * |expected|, and against the fp64 reference the
/// candidate's error may not exceed max(floor, error_factor * the reference's own error).
struct Tolerance {
  double absolute = 1e-5;
  double relative = 1e-5;
  double error_factor = 4;
  bool operator==(const Tolerance &) const = default;
};

/// Least work of any correct plan, for the roofline. Absent if unknown.
struct Work {
  std::optional<symbolic::Expression> bytes; ///< device memory that must move
  std::optional<symbolic::Expression> flops; ///< floating-point operations
  bool operator==(const Work &) const = default;
};

/// Mode of a module during its call.
enum class ModuleMode {
  AsMade, ///< each part in the mode that the constructor left it in
  Eval,   ///< after `.eval()` on the module
  Train,  ///< after `.train()` on the module
};
std::string_view name(ModuleMode mode); ///< "made", "eval", "train"
std::optional<ModuleMode> module_mode_from_name(std::string_view name);

/// A torch module as the user wrote it, by the conventions of KernelBench: a class, a function that
/// makes the inputs of one call, and one that makes the arguments of the class's constructor.
struct TorchModule {
  /// "python" or "cpp". For "cpp", `source` is a C++ file, and `model` a function over at::Tensor
  /// or "struct NAME" of a torch::nn::Module.
  std::string language = "python";
  std::string source; ///< the file's text
  std::string model = "Model";
  /// Name of a function of the file, or an expression over `torch` that gives the list: "[torch.rand(16, 64)]".
  std::string inputs = "get_inputs", init_inputs = "get_init_inputs";
  ModuleMode mode = ModuleMode::AsMade;
  /// Other files of the user's project that the module needs, by path from a folder that contains
  /// them all: "pkg/layers.py". `path` is the module's own path from there: "pkg/model.py". Empty:
  /// the module needs no other file.
  std::map<std::string, std::string> files;
  std::string path;
  bool operator==(const TorchModule &) const = default;
};

struct Task {
  std::string name;               ///< name of the user's kernel
  std::string file;               ///< source file; information only
  symbolic::Sizes sizes;          ///< sizes of the measurement
  std::vector<symbolic::Sizes>
      check_sizes; ///< further sizes to verify: tails, small, odd
  std::vector<Buffer> buffers;
  std::vector<Scalar> scalars;
  Plan reference;
  /// The reference with float replaced by double; float16, bfloat16 and float32 buffers become float64.
  std::optional<Plan> reference_fp64;
  Tolerance tolerance;
  Work work;
  /// Torch tasks, whose reference is a ModuleStep. Their buffers are, in this order: the tensors
  /// among the module's inputs (In); the module's parameters, buffers and plain tensor attributes
  /// (In, or InOut if a call changes them); the outputs (Out).
  std::optional<TorchModule> module;
  bool operator==(const Task &) const = default;
};

} // namespace warpwright::model
