// Runs Clang's parser on one file and keeps the AST.
//
// Errors in user code are normal: they become diagnostics, and parsing continues after them, even
// after fatal ones. Thread: the unit's thread.
#include "analysis/parse/clang_unit.h"

#include "support/budget.h"
#include "analysis/parse/watch_parse.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/DeclBase.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Driver/CreateInvocationFromArgs.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>

namespace warpwright::analysis {
namespace {

/// Parts of the input that the preprocessor left out.
struct LeftOut {
  int headers = 0;
  std::vector<Range> ranges; ///< ranges of the file
};

/// Skips missing headers if wanted, and records the headers and ranges that are not parsed.
class WatchPreprocessor : public clang::PPCallbacks {
public:
  WatchPreprocessor(const clang::SourceManager &sources, const std::string &path,
                    bool skip_missing_headers, LeftOut &left_out)
      : sources_(sources), path_(path), skip_(skip_missing_headers), left_out_(left_out) {}

  bool FileNotFound(llvm::StringRef) override {
    ++left_out_.headers;
    return skip_;
  }

  void SourceRangeSkipped(clang::SourceRange range, clang::SourceLocation) override {
    if (sources_.getFileID(range.getBegin()) == file_id_of(sources_, path_))
      left_out_.ranges.push_back(
          {sources_.getFileOffset(range.getBegin()), sources_.getFileOffset(range.getEnd())});
  }

private:
  const clang::SourceManager &sources_;
  const std::string &path_; ///< of the file; empty: the main file
  bool skip_;
  LeftOut &left_out_;
};

class KeepTree : public clang::ASTFrontendAction {
public:
  KeepTree(const std::string &path, bool skip_missing_headers, LeftOut &left_out)
      : path_(path), skip_(skip_missing_headers), left_out_(left_out) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler,
                                                        llvm::StringRef) override {
    compiler.getPreprocessor().addPPCallbacks(
        std::make_unique<WatchPreprocessor>(compiler.getSourceManager(), path_, skip_, left_out_));
    watch_tokens(compiler.getPreprocessor());
    return watch_instantiations();
  }

private:
  const std::string &path_;
  bool skip_;
  LeftOut &left_out_;
};

class ClangUnit : public ParsedUnit {
public:
  ClangUnit(SourceFile file, const UnitOptions &options)
      : file_(std::move(file)), pass_(options.pass),
        included_path_(options.is_included ? file_.path : std::string()),
        collector_(included_path_) {}
  ~ClangUnit() override {
    if (action_)
      action_->EndSourceFile();
  }

  Pass pass() const override { return pass_; }
  const SourceFile &file() const override { return file_; }
  clang::ASTContext &context() const override { return compiler_->getASTContext(); }
  clang::FileID file_id() const override { return file_id_; }
  const std::vector<Diagnostic> &syntax_diagnostics() const override { return diagnostics_; }

  const std::vector<Range> &inactive_ranges() const override { return left_out_.ranges; }

  std::vector<clang::Decl *> top_level_declarations() const override {
    std::vector<clang::Decl *> result;
    for (clang::Decl *declaration : context().getTranslationUnitDecl()->noload_decls())
      if (!declaration->isImplicit() && is_in_file(declaration->getLocation()))
        result.push_back(declaration);
    return result;
  }

  Result<void> run(std::unique_ptr<clang::CompilerInvocation> invocation, FileSystem files,
                   UnitOptions options) {
    keep_alive_ = std::move(options.keep_alive);
    collector_.entries = std::move(options.earlier);
    compiler_ = std::make_unique<clang::CompilerInstance>(
        std::shared_ptr<clang::CompilerInvocation>(std::move(invocation)));
    compiler_->setVirtualFileSystem(std::move(files));
    compiler_->createDiagnostics(&collector_, /*ShouldOwnClient=*/false);
    compiler_->getDiagnostics().setFatalsAsError(true);
    if (!compiler_->createTarget())
      return fail("cannot parse " + file_.path + ": Clang does not know the target",
                  "remove -target from the flags");
    compiler_->createFileManager();
    auto action =
        std::make_unique<KeepTree>(included_path_, options.skip_missing_headers, left_out_);
    if (!action->BeginSourceFile(*compiler_, compiler_->getFrontendOpts().Inputs[0]))
      return fail("cannot parse " + file_.path + ": Clang does not open it");
    action_ = std::move(action);
    if (llvm::Error error = action_->Execute())
      return fail("cannot parse " + file_.path + ": " + llvm::toString(std::move(error)));
    checkpoint(); // the result of an interrupted parse is discarded
    file_id_ = file_id_of(sources(), included_path_);
    if (file_id_.isInvalid())
      return fail("cannot parse " + file_.path + ": the file that includes it does not reach it");
    // Limits traversals (parent maps, visits of the whole tree) to this file. A visit of the
    // headers would load the whole precompiled preamble.
    context().setTraversalScope(top_level_declarations());
    diagnostics_ = believable(std::move(collector_.entries),
                              options.skip_missing_headers && left_out_.headers > 0);
    return {};
  }

private:
  std::shared_ptr<const void> keep_alive_; // first member, so it is destroyed last
  SourceFile file_;
  Pass pass_;
  std::string included_path_; ///< of a file that Clang's main file includes; else empty
  clang::FileID file_id_;
  LeftOut left_out_;
  DiagnosticCollector collector_;
  std::vector<Diagnostic> diagnostics_;
  std::unique_ptr<clang::CompilerInstance> compiler_;
  std::unique_ptr<KeepTree> action_;
};

} // namespace

std::string absolute_path(const std::string &path, const std::string &directory) {
  llvm::SmallString<128> result(path);
  if (!llvm::sys::path::is_absolute(path)) {
    result = directory.empty() ? "/" : llvm::StringRef(directory);
    llvm::sys::path::append(result, path.empty() ? "untitled.cu" : path);
  }
  return std::string(result);
}

namespace {

/// The result of Clang's driver for the last command line. The driver searches the disk for
/// compilers, which takes longer than parsing a small file. A search over moves parses the same
/// file with the same flags many times.
struct KnownInvocation {
  std::vector<std::string> arguments;
  std::string path;
  clang::CompilerInvocation invocation;
};
thread_local std::unique_ptr<KnownInvocation> last_invocation;

} // namespace

Result<std::unique_ptr<clang::CompilerInvocation>>
make_invocation(const std::vector<std::string> &arguments, const std::string &path,
                FileSystem files) {
  if (last_invocation && last_invocation->arguments == arguments && last_invocation->path == path)
    return std::make_unique<clang::CompilerInvocation>(last_invocation->invocation);
  std::vector<const char *> pointers{"/usr/bin/clang++"};
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  pointers.push_back("-fsyntax-only");
  pointers.push_back("--");
  pointers.push_back(path.c_str());
  FirstError first;
  clang::DiagnosticOptions diagnostic_options;
  clang::CreateInvocationOptions options;
  options.VFS = files;
  options.Diags =
      clang::CompilerInstance::createDiagnostics(*files, diagnostic_options, &first, false);
  auto invocation = clang::createInvocation(pointers, std::move(options));
  if (!invocation)
    return fail("cannot parse " + path + ": " +
                    (first.message.empty() ? "Clang refuses the flags" : first.message),
                "remove the flag, or list it under remove_flags in .warpwright.toml");
  invocation->getFrontendOpts().DisableFree = false;
  last_invocation = std::make_unique<KnownInvocation>(arguments, path, *invocation);
  return invocation;
}

FileSystem with_file(FileSystem files, const SourceFile &file) {
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  memory->addFile(file.path, 0, llvm::MemoryBuffer::getMemBufferCopy(file.text, file.path));
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(files));
  overlay->pushOverlay(std::move(memory));
  return overlay;
}

Result<std::unique_ptr<ParsedUnit>> parse(SourceFile file,
                                          std::unique_ptr<clang::CompilerInvocation> invocation,
                                          FileSystem files, UnitOptions options) {
  auto unit = std::make_unique<ClangUnit>(std::move(file), options);
  if (Result<void> done = unit->run(std::move(invocation), std::move(files), std::move(options));
      !done)
    return std::unexpected(done.error());
  return unit;
}

} // namespace warpwright::analysis
