// Loop form of kernels without barriers: three nested loops over the threads of a block, x
// innermost.
//
// The thread context is a variable internal to the module, so LLVM forwards threadIdx to the loop
// counters and can vectorize. Functions that loop kernels reach are cloned, because loop kernels
// and fiber kernels read the context from different variables.
#pragma once

#include "runner/device/device.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

namespace warpwright::runner::cpu {

class BlockLoops {
public:
  explicit BlockLoops(llvm::Module &module);
  /// Adds function `name` that runs `entry` for each thread of one block in `order`.
  void add(llvm::Function &entry, const std::string &name, ThreadOrder order);
  /// Makes the remaining, uncloned functions read the fiber context. Call after the last add().
  void finish();

private:
  llvm::Function &clone_with_context(llvm::Function &entry);

  llvm::Module &module_;
  llvm::GlobalVariable *context_;
  llvm::ValueToValueMapTy clones_;
};

} // namespace warpwright::runner::cpu
