// Kernels without barriers as three nested loops over the threads of a block, x innermost.
//
// The context lives in a variable of the module that nothing outside can touch, so LLVM forwards
// threadIdx to the loop counters and can vectorise. Functions that a loop kernel shares with a
// fiber kernel are cloned, because the two read their context from different places.
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
  /// Gives what was not cloned the context of fibers.
  void finish();

private:
  llvm::Function &clone_with_context(llvm::Function &entry);

  llvm::Module &module_;
  llvm::GlobalVariable *context_;
  llvm::ValueToValueMapTy clones_;
};

} // namespace warpwright::runner::cpu
