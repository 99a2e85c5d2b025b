// The memory of a loop: whether its iterations store to different places, and read none of them
// but their own.
#pragma once

#include "generator/text/lift/parallel_loop.h"

namespace warpwright::lift {

/// Checks a loop whose head and effects are known. Errors: the reason why two iterations may meet in
/// memory.
Result<void> check_memory(const source::IndexReader &form, const ParallelLoop &loop);

/// True if the node is an atomic operation whose result is not used.
bool is_plain_atomic(const clang::Stmt *root, const clang::Stmt *node);

} // namespace warpwright::lift
