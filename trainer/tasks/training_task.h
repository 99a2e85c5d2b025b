// Task for training or evaluation: a source, the kernel in it, and its split.
//
// A task comes from a task suite (suite.h), a KernelBench checkout or a folder of user sources. It has no model::Task,
// because `warpwright env` infers that from the source (method `tasks`). A CUDA task names a kernel, a torch task the
// class of its module. Thread: values, any.
#pragma once

#include "support/symbolic/expression.h"

#include <string>
#include <vector>

namespace warpwright::trainer {

enum class Split { Training, Validation, HeldOut };

/// TrainingTask::language of torch modules.
inline constexpr const char *kTorchLanguage = "torch-python";

struct TrainingTask {
  std::string id;     ///< unique in its suite, permanent: "softmax/softmax_rows/cols=512,rows=8192"
  std::string family; ///< group of similar tasks, which a split may hold out: "softmax"
  Split split = Split::Training;
  std::string language = "cuda";  ///< or "torch-python"
  std::string path;               ///< of the source, for messages; need not exist
  std::string text;               ///< the whole source, with this task's sizes
  std::string kernel;             ///< "cuda": the kernel; "torch-python": the class
  std::vector<std::string> flags; ///< of the compiler
};

} // namespace warpwright::trainer
