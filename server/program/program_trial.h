// Building and running of a program's versions: the original, and the original with some edits.
//
// Thread: one at a time.
#pragma once

#include "server/program/output_mask.h"
#include "server/program/scratch_folder.h"
#include "server/program/shell_command.h"

#include <map>

namespace warpwright::program {

struct Commands {
  std::string run;
  std::string build; ///< empty: the program is built already, or `run` builds it
  std::string check; ///< runs after a run, in its folder; its status 0 says that the output is right; empty: none
};

struct Limits {
  std::chrono::milliseconds build{std::chrono::minutes(30)};
  std::chrono::milliseconds run{std::chrono::minutes(15)};
};

struct ProgramRun {
  RunOutput output;
  double seconds = 0;
  std::string failure; ///< why it is of no use: a time limit, a failed check; empty: none
};

/// The texts of files by their paths from the program's folder.
using Sources = std::map<std::string, std::string>;

inline constexpr char kOriginal[] = "original", kChanged[] = "changed";

class ProgramTrial {
public:
  ProgramTrial(ScratchFolder scratch, Commands commands)
      : scratch_(std::move(scratch)), commands_(std::move(commands)) {}

  /// Builds the user's folder with these texts in place of its own, and keeps it as the tree of
  /// this name. Errors: a copy fails; the build fails, with the end of its output.
  Result<void> build(const std::string &tree, const Sources &sources = {});

  /// Runs a built tree in a fresh copy, and its check. @param environment further variables
  /// Errors: a copy fails; no shell starts.
  Result<ProgramRun> run(const std::string &tree, const std::vector<std::string> &environment = {});

  /// A path for files that no run sees.
  std::filesystem::path beside(const std::string &name) const { return scratch_.beside(name); }

  /// The time that a later run may take.
  void limit_runs(std::chrono::milliseconds limit) { limits_.run = limit; }

private:
  Result<RunOutput> output_of(const std::string &tree, int status) const;

  ScratchFolder scratch_;
  Commands commands_;
  Limits limits_;
};

} // namespace warpwright::program
