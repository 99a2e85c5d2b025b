// Clang setup for device code on this CPU, and the table of entry functions.
#include "runner/cpu/compiler.h"

#include "runner/cpu/diagnostics.h"
#include "runner/cpu/header_files.h"

#include <algorithm>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>

namespace warpwright::runner::cpu {
namespace {

/// Limit on template depth. Twice this depth may overflow the stack of the job thread.
constexpr const char *kTemplateDepth = "-ftemplate-depth=512";

/// Suppresses the diagnostic for a pragma that LLVM cannot apply on a CPU, because the kernel is
/// still correct.
struct QuietOptimizer : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    return info.getKind() == llvm::DK_OptimizationFailure;
  }
};

/// Code that is appended to the source and defines the entry functions with the templates of
/// shim/entries.h. `#line` makes an error in a kernel name point at that name.
std::string entry_table(const std::vector<std::string> &kernels) {
  std::string text = "\n";
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string number = std::to_string(i);
    text += "#line 1 \"kernel name '" + kernels[i] + "'\"\n";
    text += "extern \"C\" __attribute__((device, used)) void __ww_kernel_" + number +
            "(const char *a) { __ww_call<&" + kernels[i] + ">(a, &" + kernels[i] +
            ", typename __ww_range<__ww_count(&" + kernels[i] + ")>::type{}); }\n";
    text += "extern \"C\" __attribute__((device, used)) constexpr auto __ww_parameters_" + number +
            " = __ww_measure(&" + kernels[i] + ");\n";
  }
  return text;
}

std::vector<std::string> arguments(const CompileRequest &request) {
  std::vector<std::string> list = {"-x",
                                   "cuda",
                                   "-fcuda-is-device",
                                   "-triple",
                                   llvm::sys::getDefaultTargetTriple(),
                                   "-aux-triple",
                                   llvm::sys::getDefaultTargetTriple(),
                                   "-target-cpu",
                                   llvm::sys::getHostCPUName().str(),
                                   "-O2",
                                   "-disable-llvm-passes",
                                   "-fdeclspec",
                                   "-ffp-contract=fast",
                                   "-relaxed-aliasing",
                                   "-fno-strict-float-cast-overflow",
                                   "-ftrivial-auto-var-init=pattern",
                                   "-mrelocation-model",
                                   "pic",
                                   "-pic-level",
                                   "2",
                                   "-fno-finite-loops",
                                   "-debug-info-kind=line-tables-only",
                                   "-dwarf-version=5",
                                   "-fsanitize=array-bounds,alignment,integer-divide-by-zero",
                                   "-ferror-limit",
                                   "20",
                                   kTemplateDepth,
                                   "-Wno-unused-value",
                                   "-Wno-unused-variable",
                                   "-Wno-pass-failed",
                                   "-Wno-unknown-pragmas",
                                   "-nostdsysteminc",
                                   "-internal-isystem",
                                   kHeaderFolder};
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    list.push_back("-target-feature");
    list.push_back((feature.second ? "+" : "-") + feature.first().str());
  }
  for (std::string option : request.options) {
    if (option.starts_with("--"))
      option.erase(0, 1);
    if (option == "-std=c++20")
      list.push_back(option);
    else if (option.starts_with("-D") || option.starts_with("-U"))
      list.push_back(option);
    // Other options only tune GPU code (fast-math, registers). C++14 sources compile as C++17.
  }
  if (std::ranges::find(list, "-std=c++20") == list.end())
    list.push_back("-std=c++17");
  list.insert(list.end(), {"-emit-llvm-only", kMainFile});
  return list;
}

std::vector<std::uint32_t> read_parameter_sizes(const llvm::Module &module, std::size_t index) {
  std::vector<std::uint32_t> sizes;
  const llvm::GlobalVariable *table =
      module.getNamedGlobal("__ww_parameters_" + std::to_string(index));
  const llvm::Constant *values = table ? table->getInitializer()->getAggregateElement(0u) : nullptr;
  for (unsigned i = 0; values; ++i) {
    auto *value = llvm::dyn_cast_or_null<llvm::ConstantInt>(values->getAggregateElement(i));
    if (!value)
      break;
    sizes.push_back(static_cast<std::uint32_t>(value->getZExtValue()));
  }
  if (!sizes.empty())
    sizes.pop_back();
  return sizes;
}

Fault compile_fault(const DiagnosticCollector &diagnostics) {
  Fault result;
  result.log = diagnostics.log();
  if (diagnostics.unsupported()) {
    result.kind = Fault::Kind::Unsupported;
    result.message = "unsupported on the CPU backend: " + *diagnostics.unsupported();
  } else {
    result.kind = Fault::Kind::CompileFailed;
    result.message = diagnostics.first_error().value_or("the compiler gave no module");
  }
  return result;
}

} // namespace

std::string entry_name(std::size_t index) { return "__ww_kernel_" + std::to_string(index); }

DeviceResult<SourceModule> compile_source(const CompileRequest &request, PreludeCache &preludes) {
  const std::vector<std::string> list = arguments(request);
  std::vector<const char *> pointers;
  for (const std::string &argument : list)
    pointers.push_back(argument.c_str());

  DiagnosticCollector diagnostics;
  const std::string main_file = PreludeCache::kFirstLine +
                                ("#line 1 \"" + std::string(kMainFile) + "\"\n") + request.source +
                                entry_table(request.kernels);
  auto files = make_file_system(main_file);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  clang::CompilerInstance compiler(invocation);
  compiler.setVirtualFileSystem(files);
  compiler.createDiagnostics(&diagnostics, /*ShouldOwnClient=*/false);
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, compiler.getDiagnostics()))
    return std::unexpected(compile_fault(diagnostics));
  preludes.apply(list, *invocation, files, main_file);
  compiler.setVirtualFileSystem(files);
  compiler.createFileManager();
  compiler.setVerboseOutputStream(llvm::nulls());

  SourceModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  result.context->setDiagnosticHandler(std::make_unique<QuietOptimizer>());
  clang::EmitLLVMOnlyAction action(result.context.get());
  const bool done = compiler.ExecuteAction(action);
  result.module = done ? action.takeModule() : nullptr;
  if (!result.module || diagnostics.getNumErrors())
    return std::unexpected(compile_fault(diagnostics));
  result.log = diagnostics.log();
  for (std::size_t i = 0; i < request.kernels.size(); ++i)
    result.parameter_sizes.push_back(read_parameter_sizes(*result.module, i));
  return result;
}

} // namespace warpwright::runner::cpu
