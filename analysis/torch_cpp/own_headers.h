// The user's own headers that a file includes, as the parser read them. The runner compiles the
// file with them.
//
// Own headers are those in or below the parent of the file's folder (for /project/csrc/op.cpp:
// /project). The runner must provide all others. Thread: the unit's thread.
#pragma once

#include "analysis/parsed_unit.h"
#include "support/model/task.h"

namespace warpwright::analysis::torch_cpp {

/// Sets the module's `files` and `path`. Both stay empty if the file includes no own headers, or
/// more than a task may hold.
void add_own_headers(const ParsedUnit &unit, model::TorchModule &module);

} // namespace warpwright::analysis::torch_cpp
