// Task suites: folders of sources by family, each with a `family.toml` that gives its split and the ranges of sizes.
//
//   split = "training"                      # of the family: training, validation, held-out
//   [task.row_max]
//   source = "row_max.cu"                   # or .py, by KernelBench's conventions
//   kernel = "row_max"                      # needed only if the source has several
//   points = [1000000, 64000000]            # bounds of the product of all sizes; optional
//   sizes.rows = [5, 256, 32768, 1]         # small, from, to, step
//
// A task at one shape is a TrainingTask. Families of the training split have training, validation and held-out shapes
// (shapes.h); all shapes of another family belong to its split. Thread: any.
#pragma once

#include "trainer/tasks/shapes.h"

#include <filesystem>

namespace warpwright::trainer {

struct SuiteTask {
  std::string name, family;
  Split split = Split::Training; ///< of the family
  std::string language;          ///< as in TrainingTask
  std::string path, text;
  std::string kernel; ///< kernel or class
  ShapeSpace space;
};

/// Loads the tasks, sorted by family and name. Errors: no family.toml below the folder; an invalid one, with file and
/// line; an unreadable source, one without a kernel, with several and none named, or without one of its sizes.
Result<std::vector<SuiteTask>> load_suite(const std::filesystem::path &folder);

/// Folder of the suite that ships with the program. The first of: $WARPWRIGHT_TASKS; share/warpwright/tasks of this
/// program's installation; the source tree that it was built from. Errors: none exists.
Result<std::filesystem::path> shipped_suite();

/// The task at one shape; its id is, for example, "softmax/softmax_rows/cols=512,rows=8192".
TrainingTask at_shape(const SuiteTask &task, const symbolic::Sizes &sizes, Split split);

/// Draws up to `count` different shapes of one split: fewer if the draws find fewer, none if the family belongs to
/// another split. The shapes of a task depend only on the task, the split and the seed.
std::vector<TrainingTask> draw_variations(const SuiteTask &task, Split split, int count,
                                          std::uint64_t seed);

/// Names of the `__global__` functions of a CUDA source, found without parsing it.
std::vector<std::string> kernel_names(const std::string &text);

} // namespace warpwright::trainer
