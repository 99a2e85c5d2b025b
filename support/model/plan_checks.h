// Parts of check_plan(). Private to support/model. Thread: pure functions.
#pragma once

#include "support/error.h"
#include "support/model/plan.h"

#include <map>
#include <string>

namespace warpwright::model {

/// A buffer or temporary during the check of a plan's steps.
struct KnownBuffer {
  std::int64_t elements = 0; ///< at the task's sizes
  bool is_input = false;     ///< an input of the task, which no step may write
  bool is_temporary = false;
  bool is_result = false; ///< the result of an ATen step of the plan
  bool is_made = false;   ///< made by a step that was checked already
};
using KnownBuffers = std::map<std::string, KnownBuffer>;

Result<KnownBuffer *> find_buffer(KnownBuffers &buffers, const std::string &name,
                                  const std::string &where);
/// Errors: a temporary that is an operator's result is used before that step.
Result<void> check_made(const KnownBuffer &buffer, const std::string &name,
                        const std::string &where);

/// Prevents a plan from reading files of the runner's host through a compiler's error message.
/// Errors: directives that name anything but a plain header.
Result<void> check_includes(const std::string &source);

/// Errors: those of check_operator(), views outside their buffers, results that are not whole
/// buffers or that are given twice.
Result<void> check_aten(const AtenStep &step, KnownBuffers &buffers, const std::string &where);

} // namespace warpwright::model
