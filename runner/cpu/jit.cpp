// Code generation for this machine's CPU with LLVM's default -O2 pipeline, and linking with ORC.
#include "runner/cpu/jit.h"

#include <chrono>
#include <llvm/ADT/StringSet.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

namespace warpwright::runner::cpu {
namespace {

using Clock = std::chrono::steady_clock;

Fault internal(const std::string &what, llvm::Error error) {
  return Fault{Fault::Kind::Internal, what + ": " + llvm::toString(std::move(error)), {}, false};
}

llvm::Expected<llvm::orc::JITTargetMachineBuilder> host_machine() {
  static const bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (builder) {
    builder->setRelocationModel(llvm::Reloc::PIC_);
    builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
    builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Fast;
  }
  return builder;
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

/// The first function that the code calls but kernel_symbols() does not define.
std::optional<std::string> missing_function(const llvm::Module &module) {
  llvm::StringSet<> known;
  for (auto [name, address] : kernel_symbols())
    known.insert(name);
  for (const llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty() &&
        !known.contains(function.getName()))
      return llvm::demangle(function.getName());
  return std::nullopt;
}

template <class Function>
llvm::Error find(llvm::orc::LLJIT &jit, const std::string &name, Function &function) {
  auto address = jit.lookup(name);
  if (!address)
    return address.takeError();
  function = address->toPtr<Function>();
  return llvm::Error::success();
}

llvm::Error find_kernel(llvm::orc::LLJIT &jit, std::size_t index, const KernelForm &form,
                        LinkedKernel &kernel) {
  for (const SharedVariable &variable : form.shared) {
    char *address = nullptr;
    if (llvm::Error error = find(jit, variable.symbol, address))
      return error;
    kernel.shared.emplace_back(address, variable.size_bytes);
  }
  if (form.fibers)
    return find(jit, entry_name(index), kernel.thread);
  if (llvm::Error error =
          find(jit, block_function_name(index, ThreadOrder::Forward), kernel.block_forward))
    return error;
  return find(jit, block_function_name(index, ThreadOrder::Reverse), kernel.block_reverse);
}

} // namespace

DeviceResult<Image> make_image(const CompileRequest &request, PreludeCache &preludes) {
  const auto start = Clock::now();
  auto builder = host_machine();
  if (!builder)
    return std::unexpected(internal("cannot describe this CPU to LLVM", builder.takeError()));
  auto machine = builder->createTargetMachine();
  if (!machine)
    return std::unexpected(internal("cannot generate code for this CPU", machine.takeError()));
  auto source = TRY(compile_source(request, preludes));
  llvm::Module &module = *source.module;
  module.setDataLayout((*machine)->createDataLayout());
  Image image;
  auto lowered = TRY(lower(module, request.kernels));
  std::string problem;
  llvm::raw_string_ostream problem_stream(problem);
  if (llvm::verifyModule(module, &problem_stream))
    return fault(Fault::Kind::Internal, "the CPU backend made invalid code: " + problem);
  optimize(module, **machine);
  if (std::optional<std::string> name = missing_function(module))
    return fault(Fault::Kind::Unsupported, "unsupported on the CPU backend: the function '" +
                                               *name + "', which it does not have");
  auto object = llvm::orc::SimpleCompiler(**machine)(module);
  if (!object)
    return std::unexpected(internal("cannot generate code", object.takeError()));
  image.object = (*object)->getBuffer().str();
  image.lowered = std::move(lowered);
  image.parameter_sizes = std::move(source.parameter_sizes);
  image.log = std::move(source.log);
  image.compile_ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return image;
}

DeviceResult<LinkedImage> link_image(const Image &image) {
  auto builder = host_machine();
  if (!builder)
    return std::unexpected(internal("cannot describe this CPU to LLVM", builder.takeError()));
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*builder))
                 .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                 .setLinkProcessSymbolsByDefault(false)
                 .create();
  if (!jit)
    return std::unexpected(internal("cannot start the JIT linker", jit.takeError()));
  (*jit)->getExecutionSession().setErrorReporter(
      [](llvm::Error error) { llvm::consumeError(std::move(error)); });
  llvm::orc::SymbolMap symbols;
  for (auto [name, address] : kernel_symbols())
    symbols[(*jit)->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address),
                                              llvm::JITSymbolFlags::Exported};
  if (llvm::Error error =
          (*jit)->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return std::unexpected(internal("cannot define the runtime's symbols", std::move(error)));
  if (llvm::Error error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(image.object)))
    return std::unexpected(internal("cannot load the object code", std::move(error)));
  LinkedImage linked;
  linked.kernels.resize(image.lowered.kernels.size());
  for (std::size_t i = 0; i < linked.kernels.size(); ++i)
    if (llvm::Error error = find_kernel(**jit, i, image.lowered.kernels[i], linked.kernels[i]))
      return std::unexpected(internal("cannot link the kernel", std::move(error)));
  linked.jit = std::move(*jit);
  return linked;
}

} // namespace warpwright::runner::cpu
