// The full pass with PrecompiledPreamble: invocation and preamble are kept, and only the text after
// the #includes is parsed again.
//
// Diagnostics of the preamble are collected when it is built, and repeated in each unit that uses
// it.
#include "analysis/parse/full_parser.h"
#include "support/budget.h"
#include "analysis/parse/clang_unit.h"
#include "analysis/parse/project_headers.h"
#include "analysis/parse/watch_parse.h"

#include <clang/Frontend/PrecompiledPreamble.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/Path.h>
#include <malloc.h>

#include <algorithm>

namespace warpwright::analysis {
namespace {

/// Data that a unit needs as long as it lives.
struct Preamble {
  std::shared_ptr<const ResourceHeaders> resource_headers;
  clang::PrecompiledPreamble precompiled;
  std::vector<CollectedDiagnostic> diagnostics;
};

/// Stops the construction of a preamble at the budget's limits.
class WatchedPreamble : public clang::PreambleCallbacks {
public:
  void BeforeExecute(clang::CompilerInstance &compiler) override {
    watch_tokens(compiler.getPreprocessor());
  }
};

bool is_cuda(const std::string &path, const std::vector<std::string> &flags) {
  const llvm::StringRef extension = llvm::sys::path::extension(path);
  const auto language = std::ranges::find(flags, "-x");
  if (language != flags.end() && language + 1 != flags.end())
    return *(language + 1) == "cuda";
  return extension == ".cu" || extension == ".cuh";
}

std::vector<std::string> full_arguments(const SourceFile &file, const ParseSettings &settings) {
  std::vector<std::string> arguments{
      "-Wno-unknown-cuda-version", "-ferror-limit=0",    "-resource-dir",
      ResourceHeaders::kDirectory, "-working-directory", settings.directory};
  if (is_cuda(file.path, settings.flags)) {
    arguments.insert(arguments.end(),
                     {"-x", "cuda", "--cuda-host-only", "--cuda-path=" + settings.cuda_path});
    arguments.insert(arguments.end(), {"-isystem", settings.cuda_path + "/include/cccl"});
  } else {
    arguments.insert(arguments.end(), {"-x", "c++", "-isystem", settings.cuda_path + "/include"});
  }
  arguments.push_back("-std=c++17");
  for (std::size_t index = 0; index < settings.flags.size(); ++index) {
    if (settings.flags[index] == "-x")
      ++index;
    else
      arguments.push_back(settings.flags[index]);
  }
  return arguments;
}

} // namespace

struct FullParser::State {
  std::shared_ptr<const ResourceHeaders> resource_headers;
  FileSystem files; ///< the real files with the resource headers as an overlay
  std::vector<std::string> arguments;
  std::string path;
  std::unique_ptr<clang::CompilerInvocation> invocation; ///< built from `arguments` and `path`
  std::shared_ptr<const Preamble> preamble;

  Result<void> configure(const SourceFile &file, const ParseSettings &settings) {
    std::vector<std::string> wanted = full_arguments(file, settings);
    if (invocation && wanted == arguments && file.path == path)
      return {};
    auto made = make_invocation(wanted, file.path, files);
    if (!made)
      return std::unexpected(made.error());
    arguments = std::move(wanted);
    path = file.path;
    invocation = std::move(*made);
    preamble = nullptr;
    return {};
  }

  bool can_reuse(const llvm::MemoryBuffer &buffer) const {
    const auto bounds = clang::ComputePreambleBounds(invocation->getLangOpts(), buffer, 0);
    return preamble && preamble->precompiled.CanReuse(*invocation, buffer, bounds, *files);
  }

  /// Errors: Clang cannot write the preamble.
  Result<void> build_preamble(const llvm::MemoryBuffer &buffer) {
    preamble = nullptr; // frees the memory of the old preamble first
    const auto bounds = clang::ComputePreambleBounds(invocation->getLangOpts(), buffer, 0);
    DiagnosticCollector collector;
    clang::CompilerInvocation for_preamble(*invocation);
    for_preamble.getFrontendOpts().SkipFunctionBodies = true;
    auto diagnostics = clang::CompilerInstance::createDiagnostics(
        *files, for_preamble.getDiagnosticOpts(), &collector, false);
    diagnostics->setFatalsAsError(true);
    WatchedPreamble callbacks;
    auto built =
        clang::PrecompiledPreamble::Build(for_preamble, &buffer, bounds, diagnostics, files,
                                          std::make_shared<clang::PCHContainerOperations>(),
                                          /*StoreInMemory=*/true, /*StoragePath=*/"", callbacks);
    checkpoint(); // an interrupted preamble is discarded
    if (!built)
      return fail("cannot precompile the headers of " + path + ": " + built.getError().message());
    preamble = std::make_shared<const Preamble>(
        Preamble{resource_headers, std::move(*built), std::move(collector.entries)});
    malloc_trim(0); // the construction needs several times the memory of the result
    return {};
  }
};

FullParser::FullParser(std::shared_ptr<const ResourceHeaders> resource_headers, FileSystem files)
    : state_(std::make_unique<State>()) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  resource_headers->add_to(*memory);
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::makeIntrusiveRefCnt<RegularFiles>(std::move(files)));
  overlay->pushOverlay(std::move(memory));
  state_->resource_headers = std::move(resource_headers);
  state_->files = std::move(overlay);
}

FullParser::~FullParser() = default;
FullParser::FullParser(FullParser &&) noexcept = default;
FullParser &FullParser::operator=(FullParser &&) noexcept = default;

bool FullParser::is_preamble_current(const SourceFile &file, const ParseSettings &settings) const {
  SourceFile absolute{absolute_path(file.path, settings.directory), ""};
  if (!state_->invocation || absolute.path != state_->path ||
      full_arguments(absolute, settings) != state_->arguments)
    return false;
  return state_->can_reuse(*llvm::MemoryBuffer::getMemBuffer(file.text, absolute.path));
}

Result<std::unique_ptr<ParsedUnit>> FullParser::parse(SourceFile file,
                                                      const ParseSettings &settings) {
  if (settings.cuda_path.empty())
    return fail("cannot parse " + file.path + " against real headers: no CUDA toolkit is known",
                "set cuda_path in .warpwright.toml, or CUDA_HOME");
  file.path = absolute_path(file.path, settings.directory);
  if (Result<void> done = state_->configure(file, settings); !done)
    return std::unexpected(done.error());
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(file.text, file.path);
  if (!state_->can_reuse(*buffer))
    if (Result<void> done = state_->build_preamble(*buffer); !done)
      return std::unexpected(done.error());
  auto invocation = std::make_unique<clang::CompilerInvocation>(*state_->invocation);
  FileSystem files = state_->files;
  // The invocation takes ownership of the buffer, and its compiler frees it.
  state_->preamble->precompiled.OverridePreamble(*invocation, files, buffer.release());
  auto unit = analysis::parse(std::move(file), std::move(invocation), std::move(files),
                              {.pass = Pass::Full,
                               .earlier = state_->preamble->diagnostics,
                               .keep_alive = state_->preamble});
  if (unit)
    (*unit)->set_run_command(settings.run);
  return unit;
}

} // namespace warpwright::analysis
