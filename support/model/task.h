// A task: what must be computed, on which sizes and data, and how exactly.
//
// The reference is itself a plan, cut from the user's source, so that reference and candidate run through the
// same executor. Kind "cuda" here; torch kinds add their own reference later.
// Thread: values, any.
#pragma once

#include "support/model/plan.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::model {

enum class Direction { In, Out, InOut };

/// Where a buffer's values come from. The runner draws several seeds, and for Normal several scales too.
struct Distribution {
  enum class Kind {
    Normal,   ///< mean 0, standard deviation 1
    Uniform,  ///< [0, 1)
    Positive, ///< [0.5, 1.5): for divisors and arguments of sqrt and log
    Integers, ///< uniform in [lower, upper): indices, keys, class labels
    Zeros,    ///< accumulators that the caller clears
    Module,   ///< as the task's torch module makes its inputs, or initialises its parameters
  };
  Kind kind = Kind::Normal;
  symbolic::Expression lower;      ///< Integers only
  symbolic::Expression upper{256}; ///< Integers only, exclusive
  bool operator==(const Distribution &) const = default;
};

struct Buffer {
  std::string name;
  Dtype dtype = Dtype::Float32;
  symbolic::Expression extent; ///< elements
  Direction direction = Direction::In;
  Distribution distribution;
  std::vector<std::int64_t>
      shape; ///< of torch tasks, whose tensors are contiguous; empty: flat, or a scalar tensor
  std::string torch_name; ///< of torch tasks: "x", "conv1.weight"; empty: `name`
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

/// The least work any correct plan does, for the roofline. Absent when it is not known.
struct Work {
  std::optional<symbolic::Expression> bytes; ///< device memory that must move
  std::optional<symbolic::Expression> flops; ///< floating-point operations
  bool operator==(const Work &) const = default;
};

/// The mode that a module is called in.
enum class ModuleMode {
  AsMade, ///< as its constructor leaves each of its parts: in training, or what `.eval()` in a constructor says
  Eval,   ///< `.eval()` is called on it
  Train,  ///< `.train()` is
};
std::string_view name(ModuleMode mode); ///< "made", "eval", "train"
std::optional<ModuleMode> module_mode_from_name(std::string_view name);

/// A torch module as its user wrote it, by the conventions of KernelBench: a class, a function that makes the inputs of one
/// call, and one that makes the arguments of the class's constructor.
struct TorchModule {
  /// Or "cpp": `source` is a C++ file, `model` a function over at::Tensor, or "struct NAME" of a torch::nn::Module.
  std::string language = "python";
  std::string source; ///< the file's text
  std::string model = "Model";
  /// Name of a function of the file, or an expression over `torch` that gives the list: "[torch.rand(16, 64)]".
  std::string inputs = "get_inputs", init_inputs = "get_init_inputs";
  ModuleMode mode = ModuleMode::AsMade;
  /// Other files of the user's project that it needs, by path from a folder that holds them all, and its own path from there:
  /// "pkg/layers.py", "pkg/model.py". Empty: it stands alone.
  std::map<std::string, std::string> files;
  std::string path;
  bool operator==(const TorchModule &) const = default;
};

struct Task {
  std::string name;               ///< of the kernel, as the user knows it
  std::string file;               ///< where it came from; information only
  symbolic::Sizes sizes;          ///< the binding that is measured
  std::vector<symbolic::Sizes>
      check_sizes; ///< further bindings that must come out right: tails, small, odd
  std::vector<Buffer> buffers;
  std::vector<Scalar> scalars;
  Plan reference;
  /// The reference with float replaced by double; float16, bfloat16 and float32 buffers become float64.
  std::optional<Plan> reference_fp64;
  Tolerance tolerance;
  Work work;
  /// Of torch tasks, whose reference is a ModuleStep. Their buffers are, in this order: the tensors among the module's inputs (In), its
  /// parameters, buffers and plain tensor attributes (In; InOut those that a call changes), its outputs (Out).
  std::optional<TorchModule> module;
  bool operator==(const Task &) const = default;
};

} // namespace warpwright::model
