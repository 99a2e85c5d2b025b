// The user's own headers that a file includes, as the parser read them: the runner compiles the file with them.
//
// Own are those at or below the folder that holds the file's folder (/project/csrc/op.cpp: /project); all others are the runner's to have.
// Thread: the unit's.
#pragma once

#include "analysis/parsed_unit.h"
#include "support/model/task.h"

namespace warpwright::analysis::torch_cpp {

/// Sets the module's `files` and `path`; both stay empty where the file includes none of its own, or more than a task may hold.
void add_own_headers(const ParsedUnit &unit, model::TorchModule &module);

} // namespace warpwright::analysis::torch_cpp
