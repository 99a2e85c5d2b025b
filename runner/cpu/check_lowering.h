// Passes that need Clang's line tables, and so run before they are stripped.
#pragma once

#include <llvm/IR/Module.h>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::runner::cpu {

/// " (k.cu:12)", or "" without a line, of the first inline assembly; nullopt when there is none.
std::optional<std::string> find_inline_assembly(const llvm::Module &module);

/// Turns every barrier call into `i32 __ww_barrier(i32 kind, i32 predicate, i32 site)`; kinds: 0
/// plain, 1 count, 2 and, 3 or.
/// @return the location of each site
std::vector<std::string> number_barriers(llvm::Module &module);

/// -fsanitize=alignment checks every access, which would keep LLVM from vectorising. A scalar
/// through a pointer of its own type is aligned whenever its buffer is, so only vectors, structs
/// and reinterpreted addresses keep their check.
void drop_scalar_alignment_checks(llvm::Module &module);

/// The sanitizer leaves out copies of whole structs, which is what `float4 v = p[i]` is: checks
/// both ends.
void check_copy_alignment(llvm::Module &module);

} // namespace warpwright::runner::cpu
