// Recognises modules whose text can do nothing but call operators of PyTorch on their inputs. Thread: any.
#pragma once

#include "support/model/task.h"

namespace warpwright::runner {

/// Whether the module's code only calls operators of PyTorch that compute new tensors, as regions::python_of() writes
/// it: such code leaves nothing behind in its process, which may therefore serve any number of these modules. Each
/// token of the text has to be one of those that such code needs. False for all other code, however harmless.
bool only_calls_operators(const model::TorchModule &module);

} // namespace warpwright::runner
