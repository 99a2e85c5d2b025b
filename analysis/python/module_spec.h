// The comment above a module class that says how to make one and what to call it with (docs/python.md).
//
//   # warpwright: inputs x=float32[16, 128], index=int64[16] integers 0..128; init (128, heads=8); eval
//
// Items are separated by semicolons or line ends. `inputs` gives forward's arguments: a tensor by dtype, shape and values, or any
// expression over torch and the file's names. `init` gives the constructor's. What it says becomes two Python expressions, evaluated by
// the worker and nowhere else. Thread: pure functions.
#pragma once

#include "analysis/python/python_file.h"

#include "support/model/task.h"

#include <optional>

namespace warpwright::analysis {

struct ModuleSpec {
  std::string inputs;      ///< "[torch.randn(16, 128)]"
  std::string init_inputs; ///< "[128]" or "dict(features=128)"
  /// Programs that infer call a module so; kernels answer no call that needs gradients.
  model::ModuleMode mode = model::ModuleMode::Eval;
};

/// The comment lines that end right above `line` (from 1), without `#` and `warpwright:`, joined by line ends; absent where none of
/// them begins with `warpwright:`. @param range of the whole comment, set when there is one
std::optional<std::string> spec_above(const PythonFile &file, const std::string &text,
                                      std::size_t line, Range &range);

/// Errors: with the item that is wrong, what is expected, and which arguments of forward or the constructor have no value.
/// @param known what holds where the comment does not say it
Result<ModuleSpec> read_module_spec(const std::string &comment, const PythonClass &module,
                                    ModuleSpec known = {});

/// A comment to fill in, for a class that has none: its arguments by name, question marks for what only the user knows.
std::string suggested_module_spec(const PythonClass &module);

} // namespace warpwright::analysis
