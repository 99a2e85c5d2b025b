// IR passes that need Clang's line tables and therefore run before debug info is stripped.
#pragma once

#include <llvm/IR/Module.h>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner::cpu {

/// Location of the first inline assembly: " (line 12)", " (other.cuh:12)", or "" if its line is
/// unknown. nullopt if the module has no inline assembly.
std::optional<std::string> find_inline_assembly(const llvm::Module &module);

/// Replaces every barrier call with `i32 __ww_barrier(i32 kind, i32 predicate, i32 site)`. Kinds: 0
/// plain, 1 count, 2 and, 3 or.
/// @return the location of each site
std::vector<std::string> number_barriers(llvm::Module &module);

/// Removes the alignment checks of scalar accesses. -fsanitize=alignment checks every access, which
/// prevents vectorization. A scalar access through a pointer of its own type is aligned whenever
/// its buffer is, so only vectors, structs and reinterpreted addresses need a check.
void drop_scalar_alignment_checks(llvm::Module &module);

/// Adds alignment checks to both ends of struct copies such as `float4 v = p[i]`, which the
/// sanitizer does not check.
void check_copy_alignment(llvm::Module &module);

} // namespace warpwright::runner::cpu
