// Reachability search over instruction operands, constant expressions and initializers of globals.
#include "runner/cpu/call_graph.h"

#include <functional>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

namespace warpwright::runner::cpu {
namespace {

void visit_constants(const llvm::Function &function,
                     const std::function<void(llvm::GlobalValue *)> &visit) {
  llvm::SmallPtrSet<const llvm::Constant *, 32> seen;
  std::function<void(llvm::Constant *)> walk = [&](llvm::Constant *constant) {
    if (!seen.insert(constant).second)
      return;
    if (auto *global = llvm::dyn_cast<llvm::GlobalValue>(constant))
      visit(global);
    if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(constant);
        variable && variable->hasInitializer())
      walk(variable->getInitializer());
    if (llvm::isa<llvm::GlobalValue>(constant))
      return;
    for (llvm::Value *operand : constant->operands())
      if (auto *inner = llvm::dyn_cast<llvm::Constant>(operand))
        walk(inner);
  };
  for (const llvm::BasicBlock &block : function)
    for (const llvm::Instruction &instruction : block)
      for (llvm::Value *operand : instruction.operands())
        if (auto *constant = llvm::dyn_cast<llvm::Constant>(operand))
          walk(constant);
}

} // namespace

FunctionSet reachable_from(llvm::Function &entry) {
  FunctionSet result;
  result.insert(&entry);
  for (size_t i = 0; i < result.size(); ++i)
    visit_constants(*result[i], [&](llvm::GlobalValue *global) {
      if (auto *function = llvm::dyn_cast<llvm::Function>(global))
        result.insert(function);
    });
  return result;
}

bool calls_any(const FunctionSet &reachable, std::initializer_list<llvm::StringRef> names) {
  for (const llvm::Function *function : reachable)
    for (llvm::StringRef name : names)
      if (function->getName() == name)
        return true;
  return false;
}

bool uses(const FunctionSet &reachable, const llvm::GlobalVariable *variable) {
  bool found = false;
  for (const llvm::Function *function : reachable)
    visit_constants(*function, [&](llvm::GlobalValue *global) { found |= global == variable; });
  return found;
}

} // namespace warpwright::runner::cpu
