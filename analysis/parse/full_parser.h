// The full pass: parses a file against the user's real headers, which are compiled once and kept in
// memory.
//
// Each file has its own parser. The first parse after a change of the leading #includes builds the
// preamble (seconds for large headers); later parses reuse it (milliseconds). The owner chooses the
// thread. There is no device pass: kernels are read from the host pass, which sees their bodies
// too.
// Thread: one at a time; returned units may outlive the parser, each on one thread.
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

  /// Whether parse() would reuse the preamble; checks the file system. False before the first
  /// parse.
  bool is_preamble_current(const SourceFile &file, const ParseSettings &settings) const;

  /// Parses `file` with all of its headers. Missing headers become diagnostics of the unit.
  /// Errors: `settings.cuda_path` is empty, Clang rejects a flag or cannot start, or the headers
  /// cannot be precompiled.
  Result<std::unique_ptr<ParsedUnit>> parse(SourceFile file, const ParseSettings &settings);


private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace warpwright::analysis
