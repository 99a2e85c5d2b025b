// The set of functions that a kernel can reach. A function counts as reachable if any reachable
// function mentions it, so taking a function pointer counts as a call.
#pragma once

#include <initializer_list>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Module.h>

namespace warpwright::runner::cpu {

using FunctionSet = llvm::SetVector<llvm::Function *>;

FunctionSet reachable_from(llvm::Function &entry);
/// Whether a function with one of these names is reachable.
bool calls_any(const FunctionSet &reachable, std::initializer_list<llvm::StringRef> names);
/// Whether an instruction of these functions mentions `variable`, directly or inside a constant.
bool uses(const FunctionSet &reachable, const llvm::GlobalVariable *variable);

} // namespace warpwright::runner::cpu
