// One parsed version of one file: Clang's AST with helpers that facts, rules, slicer and moves
// share.
//
// The stub pass parses against built-in CUDA declarations (analysis/stub/). It needs no toolkit and
// no file other than the text; headers that do not exist are skipped. All files are read through
// the given VFS. Thread: a unit belongs to one thread at a time.
#pragma once

#include "analysis/facts.h"
#include "support/error.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <llvm/ADT/IntrusiveRefCntPtr.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::analysis {

struct SourceFile {
  std::string path; ///< absolute, or a made-up name for an unsaved buffer
  std::string text;
};

/// How the project runs its program.
struct RunCommand {
  std::vector<std::string> arguments; ///< behind the program's name: argv[1] and on
  std::string source;                 ///< for people: "the target run of Makefile"; empty: not known
  bool operator==(const RunCommand &) const = default;
};

/// Parse settings. The flags are already translated for Clang (analysis/config/flags.h).
struct ParseSettings {
  std::vector<std::string> flags; ///< "-DN=3", "-I/include", "-std=c++17", ...
  std::string directory = "/";    ///< relative paths in flags start here
  std::string cuda_path;          ///< toolkit root for the full pass; empty: no full pass
  /// NVRTC's options that change the machine code of kernels, from the program's build.
  std::vector<std::string> code_generation;
  RunCommand run;
  /// Path of the source file that includes this one. The file is parsed as part of it, where the
  /// types are known and the kernels are launched. Empty: the file is compiled by itself.
  std::string included_by;
  /// Paths of further source files that include this one.
  std::vector<std::string> other_includers;
  /// Paths of the other source files of the program, that with `main` first unless the file's own
  /// translation unit has it. They are parsed when a value at a launch or a device function of theirs
  /// is asked for.
  std::vector<std::string> program;
  bool operator==(const ParseSettings &) const = default;
};

class ParsedUnit {
public:
  virtual ~ParsedUnit() = default;

  virtual Pass pass() const = 0;
  virtual const SourceFile &file() const = 0;
  virtual clang::ASTContext &context() const = 0;
  /// Where Clang has the file: its main file, or a file that the main file includes
  /// (ParseSettings::included_by).
  virtual clang::FileID file_id() const = 0;
  /// Errors and warnings of the parser in the file, with the rule "syntax".
  virtual const std::vector<Diagnostic> &syntax_diagnostics() const = 0;

  /// Parts of the file that the preprocessor left out (`#if 0`, the device side of
  /// `__CUDA_ARCH__`).
  virtual const std::vector<Range> &inactive_ranges() const = 0;

  std::string_view text() const { return file().text; }
  const clang::SourceManager &sources() const { return context().getSourceManager(); }

  /// Top-level declarations written in the file, in order. Visitors enter namespaces themselves.
  virtual std::vector<clang::Decl *> top_level_declarations() const = 0;

  /// Returns true for a location in the file; a location in a macro counts where the macro is used.
  /// FileIDs are compared, because SourceManager::isInMainFile follows #line directives.
  bool is_in_file(clang::SourceLocation location) const;
  /// Definitions of __global__ functions in the file, namespaces included. A template is listed
  /// once, as its pattern.
  std::vector<clang::FunctionDecl *> kernels() const;
  /// Kernel launches in all files of the unit.
  std::vector<const clang::CUDAKernelCallExpr *> all_launches() const;
  /// Kernel launches in the file, in order.
  std::vector<const clang::CUDAKernelCallExpr *> launches() const;
  /// The definition of the kernel that a launch calls, or null. For a specialization, the
  /// template's pattern.
  static const clang::FunctionDecl *kernel_of(const clang::CUDAKernelCallExpr *launch);
  clang::FunctionDecl *find_kernel(std::string_view name) const;

  /// Byte range in the file of a token range, last token included; nullopt if the range lies in a
  /// macro body or in another file. A range between macro arguments maps to the place where they
  /// were written.
  std::optional<Range> range_of(clang::SourceRange range) const { return range_in(file_id(), range); }
  /// The same in another file of the unit.
  std::optional<Range> range_in(clang::FileID file, clang::SourceRange range) const;
  /// The text of a range as written in the file; empty if range_of() returns nullopt.
  std::string_view text_of(clang::SourceRange range) const;
  /// The text of a range as written in any file of the unit; empty if it lies in a macro body.
  std::string_view text_anywhere(clang::SourceRange range) const;
  LineIndex line_index() const { return LineIndex(text()); }

  using Units = std::vector<std::unique_ptr<ParsedUnit>>;
  /// The other translation units of the program; parsed when they are asked for the first time.
  const Units &other_units() const;
  void set_other_units(std::function<Units()> parse) { parse_others_ = std::move(parse); }

  const RunCommand &run_command() const { return run_command_; }
  void set_run_command(RunCommand command) { run_command_ = std::move(command); }

  /// NVRTC's options under which the kernels are compiled as in the program's build, the standard first.
  const std::vector<std::string> &compile_options() const { return compile_options_; }
  void set_compile_options(std::vector<std::string> options) { compile_options_ = std::move(options); }

private:
  std::vector<std::string> compile_options_;
  RunCommand run_command_;
  mutable std::function<Units()> parse_others_; ///< null: they are parsed, or there are none
  mutable Units others_;
};

/// Parses against the built-in declarations. Parsing continues after errors. If
/// `settings.included_by` cannot be read or does not reach the file, the file is parsed by itself.
/// Errors: Clang cannot start because of a flag that it does not know; the message names the flag.
Result<std::unique_ptr<ParsedUnit>>
parse_stub(SourceFile file, const ParseSettings &settings = {},
           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files = llvm::vfs::getRealFileSystem());

} // namespace warpwright::analysis
