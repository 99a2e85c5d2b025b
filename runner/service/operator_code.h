// Recognises modules whose text can do nothing but call operators of PyTorch on their inputs. Thread: any.
#pragma once

#include "support/model/task.h"

namespace warpwright::runner {

/// Returns true if the module's code has no effect but to compute new tensors, as the text that
/// regions::python_of() writes. One process may then serve any number of such modules. The check reads the text token
/// by token and accepts only those that this text needs; it returns false for all other code.
bool only_calls_operators(const model::TorchModule &module);

} // namespace warpwright::runner
