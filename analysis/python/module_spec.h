// The comment above a module class that describes how to construct and call it (docs/use/python.md).
//
//   # warpwright: inputs x=float32[16, 128], index=int64[16] integers 0..128; init (128, heads=8); eval
//
// Items are separated by semicolons or line ends. `inputs` lists forward's arguments: a tensor by
// dtype, shape and values, or any expression over torch and the file's names. `init` lists the
// constructor's arguments. Both become Python expressions that only the worker evaluates.
// Thread: pure functions.
#pragma once

#include "analysis/python/python_file.h"

#include "support/model/task.h"

#include <optional>

namespace warpwright::analysis {

struct ModuleSpec {
  std::string inputs;      ///< "[torch.randn(16, 128)]"
  std::string init_inputs; ///< "[128]" or "dict(features=128)"
  /// Inference programs use eval mode, and kernels do not support calls that need gradients.
  model::ModuleMode mode = model::ModuleMode::Eval;
};

/// The items of the `warpwright:` comments in the lines directly above `line` (from 1), separated
/// by semicolons; nullopt if there are none. A line that ends in a comma or in an open bracket
/// continues in the next comment line.
/// @param range set to the range of these comments if there are any
std::optional<std::string> spec_above(const PythonFile &file, const std::string &text,
                                      std::size_t line, Range &range);

/// Reads the comment's items.
/// Errors: a wrong item and the expected form, or arguments of forward or the constructor that have
/// no value.
/// @param known values for items that the comment does not contain
Result<ModuleSpec> read_module_spec(const std::string &comment, const PythonClass &module,
                                    ModuleSpec known = {});

/// A comment for a class that has none: its arguments by name, with question marks for unknown
/// values.
std::string suggested_module_spec(const PythonClass &module);

} // namespace warpwright::analysis
