// The full pass: parses a file against the user's real headers, with the headers compiled once and
// kept in memory.
//
// One parser a file. The first parse after a change in the leading #includes builds the preamble
// (seconds for large headers); later ones reuse it (milliseconds). Whoever owns the parser decides
// on which thread that runs. Leaves out the device pass: kernels are read from the host pass, which
// sees their bodies too. Thread: one at a time; units it returned may outlive it, each on one
// thread.
#pragma once

#include "analysis/parse/resource_headers.h"
#include "analysis/parsed_unit.h"

#include <memory>

namespace warpwright::analysis {

class FullParser {
public:
  explicit FullParser(
      std::shared_ptr<const ResourceHeaders> resource_headers,
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files = llvm::vfs::getRealFileSystem());
  ~FullParser();
  FullParser(FullParser &&) noexcept;
  FullParser &operator=(FullParser &&) noexcept;

  /// Whether parse() would reuse the preamble; looks at the file system. False before the first
  /// parse.
  bool is_preamble_current(const SourceFile &file, const ParseSettings &settings) const;

  /// Errors: `settings.cuda_path` is empty, Clang refuses a flag or cannot start. Missing headers
  /// are no error here but a diagnostic of the unit.
  Result<std::unique_ptr<ParsedUnit>> parse(SourceFile file, const ParseSettings &settings);


private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace warpwright::analysis
