// Identity of the client's code that a torch task runs in a worker's process. Thread: any.
#pragma once

#include "support/model/task.h"

namespace warpwright::runner {

/// SHA-256 of the code that the task's module brings. Tasks that differ in numbers of the arguments alone, such as
/// "get_inputs(2, 64)", bring the same code: one process may serve them all. "operators" for all
/// modules that only call operators (operator_code.h). Empty: the task has no module.
std::string code_hash(const model::Task &task);

} // namespace warpwright::runner
