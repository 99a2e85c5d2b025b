// Parse settings of one file, from compile_commands.json or else a makefile, .warpwright.toml and
// the toolkit.
//
// The compile database and the project's files are cached until they change, because they may be
// large and are needed for every analysis. Problems of a configuration are reported together with
// usable settings, never instead of them.
// Thread: one at a time; the results are plain values.
#pragma once

#include "analysis/config/compile_database.h"
#include "analysis/config/makefile.h"
#include "analysis/config/program_place.h"
#include "analysis/config/project_config.h"
#include "analysis/config/toolkit.h"
#include "analysis/parsed_unit.h"

#include <map>
#include <string>
#include <vector>

namespace warpwright::config {

struct FileSettings {
  analysis::ParseSettings parse;
  ProjectConfig project;
  std::optional<Toolkit> toolkit;
  std::string compile_commands; ///< the database of the flags; empty: none
  std::string command_of; ///< what gave the flags: the database's entry of the file or of a similar one, or a makefile
  std::vector<Error> problems;
};

class SettingsReader {
public:
  explicit SettingsReader(
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files = llvm::vfs::getRealFileSystem(),
      Environment environment = process_environment(), Consent consent = user_consent());

  /// @param file absolute path; need not exist
  FileSettings read(const std::string &file);

private:
  struct Database {
    llvm::sys::TimePoint<> modified;
    std::vector<CompileCommand> commands;
    std::optional<Error> error;
  };

  const Database &database(const std::string &path);
  void apply_compile_command(const std::string &file, FileSettings &settings);
  static void apply_makefile(const BuildFacts &build, FileSettings &settings);

  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_;
  Environment environment_;
  Consent consent_;
  ProgramFinder programs_;
  std::map<std::string, Database> databases_;
};

} // namespace warpwright::config
