// What a kernel can reach: any function that a reachable function mentions, so that pointers count
// as calls.
#pragma once

#include <initializer_list>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Module.h>

namespace warpwright::runner::cpu {

using FunctionSet = llvm::SetVector<llvm::Function *>;

FunctionSet reachable_from(llvm::Function &entry);
/// Whether one of these is reached by name.
bool calls_any(const FunctionSet &reachable, std::initializer_list<llvm::StringRef> names);
/// Whether an instruction of these functions mentions `variable`, also inside a constant.
bool uses(const FunctionSet &reachable, const llvm::GlobalVariable *variable);

} // namespace warpwright::runner::cpu
