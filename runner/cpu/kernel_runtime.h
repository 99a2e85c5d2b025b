// Runtime functions that kernel code calls: sanitizer handlers, assert, trap and printf.
//
// Handlers cannot return, so each records a fault and leaves the launch (faults.h).
// Thread: the one that runs guarded().
#pragma once

#include <utility>
#include <vector>

namespace warpwright::runner::cpu {

std::vector<std::pair<const char *, void *>> runtime_symbols();

} // namespace warpwright::runner::cpu
