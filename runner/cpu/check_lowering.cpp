// IR passes for inline assembly, barrier sites and alignment checks.
#include "runner/cpu/check_lowering.h"

#include "runner/cpu/header_files.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace warpwright::runner::cpu {
namespace {

std::string location_of(const llvm::Instruction &instruction) {
  const llvm::DILocation *location = instruction.getDebugLoc();
  if (!location || location->getFilename().starts_with(kHeaderFolder))
    return {};
  if (location->getFilename() == kMainFile)
    return "line " + std::to_string(location->getLine());
  return location->getFilename().str() + ":" + std::to_string(location->getLine());
}

/// The alignment in bytes, at most 16, that the array strides of `address` guarantee relative to
/// its base pointer.
std::uint64_t stride_of(const llvm::Value *address, const llvm::DataLayout &layout) {
  std::uint64_t stride = 16;
  while (auto *element = llvm::dyn_cast<llvm::GEPOperator>(address)) {
    for (auto type = llvm::gep_type_begin(element); type != llvm::gep_type_end(element); ++type)
      if (!type.isStruct())
        stride =
            std::min<std::uint64_t>(stride, layout.getTypeAllocSize(type.getIndexedType()) &
                                                -layout.getTypeAllocSize(type.getIndexedType()));
    address = element->getPointerOperand();
  }
  return stride;
}

/// Whether `call` reports a misaligned integer or floating-point access. Layout of its data, from
/// compiler-rt's ubsan_handlers.h and ubsan_value.h: {location, type descriptor, log2 of the
/// alignment, access kind}. A type descriptor starts with its kind: 0 integer, 1 floating point,
/// 0xffff other types.
bool is_scalar_check(const llvm::CallBase &call, std::uint64_t &alignment) {
  auto *data = llvm::dyn_cast<llvm::GlobalVariable>(call.getArgOperand(0)->stripPointerCasts());
  if (!data || !data->hasInitializer())
    return false;
  const llvm::Constant *fields = data->getInitializer();
  auto *log = llvm::dyn_cast_or_null<llvm::ConstantInt>(fields->getAggregateElement(2u));
  auto *type = llvm::dyn_cast_or_null<llvm::GlobalVariable>(fields->getAggregateElement(1u));
  if (!log || !type || !type->hasInitializer())
    return false;
  auto *kind =
      llvm::dyn_cast_or_null<llvm::ConstantInt>(type->getInitializer()->getAggregateElement(0u));
  alignment = 1ull << log->getZExtValue();
  return kind && kind->getZExtValue() != 0xffff;
}

struct CopyCheck {
  llvm::MemTransferInst *copy;
  llvm::Value *address;
  std::uint64_t alignment;
};

/// Adds a check of one end of a copy if that end may be misaligned. Local and global variables of
/// the kernel are always aligned.
void add_check(std::vector<CopyCheck> &checks, llvm::MemTransferInst &copy, llvm::Value *address,
               llvm::MaybeAlign alignment, const llvm::DataLayout &layout) {
  const std::uint64_t bytes = alignment.valueOrOne().value();
  const llvm::Value *base = llvm::getUnderlyingObject(address);
  if (llvm::isa<llvm::AllocaInst>(base) || llvm::isa<llvm::GlobalVariable>(base))
    return;
  if (bytes >= 4 || stride_of(address, layout) < bytes)
    checks.push_back({&copy, address, bytes});
}

} // namespace

std::optional<std::string> find_inline_assembly(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->isInlineAsm()) {
        std::string where = location_of(instruction);
        return where.empty() ? "" : " (" + where + ")";
      }
  return std::nullopt;
}

std::vector<std::string> number_barriers(llvm::Module &module) {
  std::vector<std::string> sites;
  llvm::IRBuilder<> builder(module.getContext());
  llvm::Type *number = builder.getInt32Ty();
  llvm::FunctionCallee barrier =
      module.getOrInsertFunction("__ww_barrier", number, number, number, number);
  auto *declaration = llvm::cast<llvm::Function>(barrier.getCallee());
  declaration->addFnAttr(llvm::Attribute::Convergent);
  declaration->addFnAttr(llvm::Attribute::NoUnwind);
  static constexpr const char *kNames[] = {"__syncthreads", "__syncthreads_count",
                                           "__syncthreads_and", "__syncthreads_or"};
  for (int kind = 0; kind < 4; ++kind) {
    llvm::Function *function = module.getFunction(kNames[kind]);
    if (!function)
      continue;
    for (llvm::User *user : llvm::make_early_inc_range(function->users())) {
      auto *call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call)
        continue;
      builder.SetInsertPoint(call);
      llvm::Value *predicate = kind ? call->getArgOperand(0) : builder.getInt32(0);
      llvm::CallInst *lowered =
          builder.CreateCall(barrier, {builder.getInt32(kind), predicate,
                                       builder.getInt32(static_cast<unsigned>(sites.size()))});
      lowered->addFnAttr(llvm::Attribute::Convergent);
      sites.push_back(location_of(*call));
      if (kind)
        call->replaceAllUsesWith(lowered);
      call->eraseFromParent();
    }
  }
  return sites;
}

void drop_scalar_alignment_checks(llvm::Module &module) {
  llvm::Function *handler = module.getFunction("__ubsan_handle_type_mismatch_v1_abort");
  if (!handler)
    return;
  const llvm::DataLayout &layout = module.getDataLayout();
  for (llvm::User *user : handler->users()) {
    auto *call = llvm::dyn_cast<llvm::CallBase>(user);
    std::uint64_t alignment = 0;
    if (!call || !is_scalar_check(*call, alignment))
      continue;
    // The handler takes the address as an integer. The check stays if the strides of the address
    // do not guarantee the alignment.
    llvm::Value *address = call->getArgOperand(1);
    if (auto *cast = llvm::dyn_cast<llvm::PtrToIntInst>(address))
      address = cast->getPointerOperand();
    if (stride_of(address, layout) < alignment)
      continue;
    for (llvm::BasicBlock *block : llvm::predecessors(call->getParent()))
      if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
          branch && branch->isConditional())
        branch->setCondition(llvm::ConstantInt::getBool(
            module.getContext(), branch->getSuccessor(0) != call->getParent()));
  }
}

void check_copy_alignment(llvm::Module &module) {
  std::vector<CopyCheck> checks;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
        add_check(checks, *copy, copy->getRawDest(), copy->getDestAlign(), module.getDataLayout());
        add_check(checks, *copy, copy->getRawSource(), copy->getSourceAlign(),
                  module.getDataLayout());
      }
  llvm::IRBuilder<> builder(module.getContext());
  llvm::FunctionCallee handler =
      module.getOrInsertFunction("__ww_misaligned_copy", builder.getVoidTy(), builder.getInt64Ty(),
                                 builder.getInt64Ty(), builder.getPtrTy());
  llvm::cast<llvm::Function>(handler.getCallee())->addFnAttr(llvm::Attribute::NoReturn);
  for (const CopyCheck &check : checks) {
    builder.SetInsertPoint(check.copy);
    llvm::Value *number = builder.CreatePtrToInt(check.address, builder.getInt64Ty());
    llvm::Value *rest = builder.CreateAnd(number, check.alignment - 1);
    llvm::Value *location = builder.CreateGlobalString(location_of(*check.copy));
    llvm::Instruction *end =
        llvm::SplitBlockAndInsertIfThen(builder.CreateIsNotNull(rest), check.copy->getIterator(),
                                        /*Unreachable=*/true);
    builder.SetInsertPoint(end);
    builder.CreateCall(handler, {rest, builder.getInt64(check.alignment), location});
  }
}

} // namespace warpwright::runner::cpu
