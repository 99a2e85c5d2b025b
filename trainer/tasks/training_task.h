// One task to learn from or to be judged on: a source of somebody's, the kernel in it, and which split it is in.
//
// It is read from a task suite (trainer/tasks), a KernelBench checkout or a folder of user sources; what it computes
// is inferred by `warpwright env` (its `tasks` method), so no model::Task is in here. A CUDA task names a kernel, a
// torch task the class of its module. Thread: values, any.
#pragma once

#include "support/symbolic/expression.h"

#include <string>
#include <vector>

namespace warpwright::trainer {

enum class Split { Training, Validation, HeldOut };

/// TrainingTask::language of torch modules.
inline constexpr const char *kTorchLanguage = "torch-python";

struct TrainingTask {
  std::string id;     ///< unique in its suite and stable for ever: "row_softmax/4096x1024"
  std::string family; ///< held-out families and shapes are told apart by it: "row_softmax"
  Split split = Split::Training;
  std::string language = "cuda";  ///< or "torch-python"
  std::string path;               ///< of the source, as messages show it; need not exist
  std::string text;               ///< of the whole source, sizes already written into it
  std::string kernel;             ///< of "cuda": the kernel; of "torch-python": the class
  std::vector<std::string> flags; ///< of the compiler
};

} // namespace warpwright::trainer
