// Pass order, placement of shared memory, and choice of each kernel's form.
#include "runner/cpu/lowering.h"

#include "runner/cpu/block_loops.h"
#include "runner/cpu/call_graph.h"
#include "runner/cpu/check_lowering.h"
#include "runner/cpu/compiler.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/ReplaceConstant.h>

namespace warpwright::runner::cpu {
namespace {

/// nvcc's limit for static shared memory (CUDA programming guide, "Compute Capabilities").
constexpr std::uint64_t kStaticSharedLimit = 48 * 1024;

/// Clang gives an undefined initializer to shared variables and to no other variables.
bool is_static_shared(const llvm::GlobalVariable &variable) {
  return variable.hasInitializer() && llvm::isa<llvm::UndefValue>(variable.getInitializer());
}

/// Whether `variable` is declared as `extern __shared__ T name[];`.
bool is_dynamic_shared(const llvm::GlobalVariable &variable) {
  auto *array = llvm::dyn_cast<llvm::ArrayType>(variable.getValueType());
  return variable.isDeclaration() && array && array->getNumElements() == 0;
}

/// Gives each static shared variable an exported symbol, by which the launcher finds and poisons
/// the variable.
void name_static_shared(llvm::Module &module) {
  unsigned count = 0;
  for (llvm::GlobalVariable &variable : module.globals())
    if (is_static_shared(variable)) {
      variable.setInitializer(llvm::Constant::getNullValue(variable.getValueType()));
      variable.setName("__ww_shared_" + std::to_string(count++));
      variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
      variable.setComdat(nullptr);
      variable.setDSOLocal(true);
      if (variable.getAlign().valueOrOne() < llvm::Align(16))
        variable.setAlignment(llvm::Align(16));
    }
}

/// Makes every dynamic shared array refer to the address that the launcher stores in
/// kDynamicShared.
void place_dynamic_shared(llvm::Module &module, llvm::GlobalVariable *address) {
  for (llvm::GlobalVariable &variable : llvm::make_early_inc_range(module.globals())) {
    if (!is_dynamic_shared(variable))
      continue;
    llvm::convertUsersOfConstantsToInstructions({&variable});
    for (llvm::Use &use : llvm::make_early_inc_range(variable.uses())) {
      auto *user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      if (!user)
        continue;
      llvm::Instruction *before = user;
      if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
        before = phi->getIncomingBlock(use)->getTerminator();
      llvm::IRBuilder<> builder(before);
      llvm::LoadInst *load = builder.CreateLoad(builder.getPtrTy(), address);
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(module.getContext(), {}));
      use.set(load);
    }
    if (variable.use_empty())
      variable.eraseFromParent();
  }
}

KernelForm describe(llvm::Module &module, const FunctionSet &reachable,
                    llvm::GlobalVariable *dynamic) {
  KernelForm form;
  form.fibers = calls_any(reachable, {"__ww_barrier", "__ww_warp"});
  form.dynamic_shared = uses(reachable, dynamic);
  for (llvm::GlobalVariable &variable : module.globals())
    if (variable.getName().starts_with("__ww_shared_") && uses(reachable, &variable))
      form.shared.push_back({variable.getName().str(),
                             module.getDataLayout().getTypeAllocSize(variable.getValueType())});
  return form;
}

/// Gives all functions except entries internal linkage, so that LLVM may inline and remove them.
void internalise(llvm::Module &module) {
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !function.getName().starts_with("__ww_kernel_") &&
        !function.getName().starts_with("__ww_block_")) {
      function.setComdat(nullptr);
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  if (llvm::GlobalVariable *used = module.getNamedGlobal("llvm.used"))
    used->eraseFromParent();
  if (llvm::GlobalVariable *used = module.getNamedGlobal("llvm.compiler.used"))
    used->eraseFromParent();
}

} // namespace

std::uint64_t KernelForm::shared_bytes() const {
  std::uint64_t sum = 0;
  for (const SharedVariable &variable : shared)
    sum += variable.size_bytes;
  return sum;
}

std::string block_function_name(std::size_t kernel, ThreadOrder order) {
  return (order == ThreadOrder::Forward ? "__ww_block_" : "__ww_block_reverse_") +
         std::to_string(kernel);
}

DeviceResult<LoweredModule> lower(llvm::Module &module,
                                  const std::vector<std::string> &kernel_names) {
  if (std::optional<std::string> where = find_inline_assembly(module))
    return fault(Fault::Kind::Unsupported, "unsupported on the CPU backend: inline PTX" + *where);
  LoweredModule result;
  result.barrier_sites = number_barriers(module);
  drop_scalar_alignment_checks(module);
  check_copy_alignment(module);
  llvm::StripDebugInfo(module);

  auto *pointer = llvm::PointerType::get(module.getContext(), 0);
  auto *dynamic = new llvm::GlobalVariable(
      module, pointer, false, llvm::GlobalValue::ExternalLinkage, nullptr, kDynamicShared);
  name_static_shared(module);
  place_dynamic_shared(module, dynamic);
  internalise(module);

  for (std::size_t i = 0; i < kernel_names.size(); ++i) {
    FunctionSet reachable = reachable_from(*module.getFunction(entry_name(i)));
    result.kernels.push_back(describe(module, reachable, dynamic));
    if (result.kernels.back().shared_bytes() > kStaticSharedLimit)
      return fault(Fault::Kind::CompileFailed,
                   "kernel '" + kernel_names[i] + "' uses too much shared data: " +
                       std::to_string(result.kernels.back().shared_bytes()) + " bytes, at most " +
                       std::to_string(kStaticSharedLimit));
  }
  BlockLoops block_loops(module);
  for (std::size_t i = 0; i < kernel_names.size(); ++i)
    if (!result.kernels[i].fibers)
      for (ThreadOrder order : {ThreadOrder::Forward, ThreadOrder::Reverse})
        block_loops.add(*module.getFunction(entry_name(i)), block_function_name(i, order), order);
  block_loops.finish();
  return result;
}

} // namespace warpwright::runner::cpu
