// Implementation of BlockLoops: function cloning and generation of the loop nest.
#include "runner/cpu/block_loops.h"

#include "runner/cpu/call_graph.h"
#include "runner/cpu/lowering.h"

#include <array>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace warpwright::runner::cpu {
namespace {

void replace_context_calls(llvm::Function &function, llvm::Value *context) {
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : llvm::make_early_inc_range(block))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
          call && call->getCalledFunction() &&
          call->getCalledFunction()->getName() == "__ww_context") {
        call->replaceAllUsesWith(context);
        call->eraseFromParent();
      }
}

/// Inlines the chain entry -> __ww_call -> kernel, so that the arguments are constant in the loops.
void force_inline(llvm::Function &function, int depth) {
  function.removeFnAttr(llvm::Attribute::NoInline);
  function.removeFnAttr(llvm::Attribute::OptimizeNone);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  if (depth == 0)
    return;
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (llvm::Function *callee = call->getCalledFunction(); callee && !callee->isDeclaration())
          force_inline(*callee, depth - 1);
}

} // namespace

BlockLoops::BlockLoops(llvm::Module &module) : module_(module) {
  auto *type = llvm::ArrayType::get(llvm::Type::getInt32Ty(module.getContext()), 12);
  context_ = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage,
                                      llvm::ConstantAggregateZero::get(type), "__ww_loop_context");
}

llvm::Function &BlockLoops::clone_with_context(llvm::Function &entry) {
  FunctionSet reachable = reachable_from(entry);
  std::vector<std::pair<llvm::Function *, llvm::Function *>> fresh;
  for (llvm::Function *function : reachable) {
    if (function->isDeclaration() || clones_.count(function))
      continue;
    auto *clone =
        llvm::Function::Create(function->getFunctionType(), llvm::GlobalValue::InternalLinkage,
                               function->getName() + ".loop", module_);
    clones_[function] = clone;
    fresh.emplace_back(function, clone);
  }
  for (auto [function, clone] : fresh) {
    for (auto [from, to] : llvm::zip(function->args(), clone->args()))
      clones_[&from] = &to;
    llvm::SmallVector<llvm::ReturnInst *, 4> returns;
    llvm::CloneFunctionInto(clone, function, clones_,
                            llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
    clone->setLinkage(llvm::GlobalValue::InternalLinkage);
    replace_context_calls(*clone, context_);
  }
  return *llvm::cast<llvm::Function>(clones_[&entry]);
}

void BlockLoops::add(llvm::Function &entry, const std::string &name, ThreadOrder order) {
  llvm::Function &body = clone_with_context(entry);
  force_inline(body, 2);
  llvm::LLVMContext &context = module_.getContext();
  llvm::IRBuilder<> builder(context);
  llvm::Type *pointer = builder.getPtrTy(), *number = builder.getInt32Ty();
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(builder.getVoidTy(), {pointer, pointer}, false),
      llvm::GlobalValue::ExternalLinkage, name, module_);
  for (llvm::Attribute attribute : entry.getAttributes().getFnAttrs())
    if (attribute.isStringAttribute())
      function->addFnAttr(attribute);
  for (unsigned i = 0; i < 2; ++i) {
    function->addParamAttr(i, llvm::Attribute::NoAlias);
    function->addParamAttr(i, llvm::Attribute::ReadOnly);
  }
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  auto slot = [&](unsigned index) { return builder.CreateConstGEP1_32(number, context_, index); };
  std::array<llvm::Value *, 3> extents{};
  for (unsigned i = 0; i < 9; ++i) {
    llvm::Value *value =
        builder.CreateLoad(number, builder.CreateConstGEP1_32(number, function->getArg(1), i));
    builder.CreateStore(value, slot(i + 3));
    if (i >= 3 && i < 6)
      extents[i - 3] = value;
  }
  std::array<llvm::BasicBlock *, 3> headers{};
  std::array<llvm::PHINode *, 3> counters{};
  for (int axis = 2; axis >= 0; --axis) {
    llvm::BasicBlock *before = builder.GetInsertBlock();
    headers[axis] = llvm::BasicBlock::Create(context, "loop", function);
    builder.CreateBr(headers[axis]);
    builder.SetInsertPoint(headers[axis]);
    counters[axis] = builder.CreatePHI(number, 2);
    counters[axis]->addIncoming(builder.getInt32(0), before);
  }
  for (unsigned axis = 0; axis < 3; ++axis) {
    llvm::Value *index = counters[axis];
    if (order == ThreadOrder::Reverse)
      index = builder.CreateSub(builder.CreateSub(extents[axis], builder.getInt32(1)), index);
    builder.CreateStore(index, slot(axis));
  }
  builder.CreateCall(&body, {function->getArg(0)})->setCallingConv(body.getCallingConv());
  for (unsigned axis = 0; axis < 3; ++axis) {
    llvm::Value *next = builder.CreateNUWAdd(counters[axis], builder.getInt32(1));
    counters[axis]->addIncoming(next, builder.GetInsertBlock());
    llvm::BasicBlock *after = llvm::BasicBlock::Create(context, "end", function);
    builder.CreateCondBr(builder.CreateICmpULT(next, extents[axis]), headers[axis], after);
    builder.SetInsertPoint(after);
  }
  builder.CreateRetVoid();
}

void BlockLoops::finish() {
  auto *fiber_context =
      new llvm::GlobalVariable(module_, context_->getValueType(), false,
                               llvm::GlobalValue::ExternalLinkage, nullptr, kFiberContext);
  for (llvm::Function &function : module_)
    replace_context_calls(function, fiber_context);
}

} // namespace warpwright::runner::cpu
