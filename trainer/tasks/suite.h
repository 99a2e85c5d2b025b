// A task suite: folders of sources by family, each with a `family.toml` that says their split and the ranges of their sizes.
//
//   split = "training"                      # of the family: training, validation, held-out
//   [task.row_max]
//   source = "row_max.cu"                   # or .py, by KernelBench's conventions
//   kernel = "row_max"                      # only where the source has several
//   points = [1000000, 64000000]            # bounds of the product of all sizes; may be left out
//   sizes.rows = [5, 256, 32768, 1]         # small, from, to, step
//
// A task at one shape is a TrainingTask. Families of the training split give training, validation and held-out shapes (shapes.h);
// all shapes of another family belong to its split. Thread: any.
#pragma once

#include "trainer/tasks/shapes.h"

#include <filesystem>

namespace warpwright::trainer {

struct SuiteTask {
  std::string name, family;
  Split split = Split::Training; ///< of the family
  std::string language;          ///< as TrainingTask's
  std::string path, text;
  std::string kernel; ///< or class
  ShapeSpace space;
};

/// By family and name. Errors: no family.toml below the folder; one that is not as above, with file and line; a source that cannot be
/// read, has no kernel, several and none is named, or does not declare one of its sizes.
Result<std::vector<SuiteTask>> load_suite(const std::filesystem::path &folder);

/// The suite that ships with the program: $WARPWRIGHT_TASKS, share/warpwright/tasks beside the executable's folder, or that of the source
/// tree it was built from. Errors: none of them is there.
Result<std::filesystem::path> shipped_suite();

/// id: "softmax/softmax_rows/cols=512,rows=8192".
TrainingTask at_shape(const SuiteTask &task, const symbolic::Sizes &sizes, Split split);

/// Up to `count` different shapes of one split; fewer where the ranges hold fewer, none where the family belongs to another split. The
/// same seed gives the same shapes of a task whatever else is in the suite.
std::vector<TrainingTask> draw_variations(const SuiteTask &task, Split split, int count,
                                          std::uint64_t seed);

/// Names of the `__global__` functions of a CUDA source, found without parsing it.
std::vector<std::string> kernel_names(const std::string &text);

} // namespace warpwright::trainer
