// What recorded runs (`warpwright capture`) say of a file's kernels: the values of their parameters, their time.
//
// A run belongs to a file if it was started in the file's folder, in a folder above it, or in one below it (a build
// folder). Of these the newest that launched a kernel counts for it. Kernels are matched by their names without namespaces and template arguments, by the
// number of their parameters and by the parameters' sizes. Thread: any.
#pragma once

#include "analysis/parsed_unit.h"
#include "analysis/task/spec.h"
#include "runner/capture/files/contents.h"
#include "support/exclusive.h"

namespace warpwright::server {

struct CapturedRun {
  std::string source; ///< for people: "the run of ./main 4096 on 2026-11-26"
  double gpu_ns = 0;  ///< of all kernels, copies and fills
  std::multimap<std::string, capture::Line<capture::Launch>> launches; ///< by the kernel's name
  std::vector<capture::SeenBuffer> buffers;
};

/// The newest first.
using RunsOfFile = std::vector<std::shared_ptr<const CapturedRun>>;

class CapturedRuns {
public:
  /// @param folder of the captures; empty: the user's own
  explicit CapturedRuns(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  /// The newest runs that may be of the program that a file belongs to.
  RunsOfFile of(const std::string &file);

private:
  struct Known {
    std::optional<capture::RunFacts> facts; ///< nullopt: not written yet, or no capture
    std::filesystem::file_time_type written{};
    std::shared_ptr<const CapturedRun> run; ///< null: not read yet
  };
  std::filesystem::path folder_;
  Exclusive<std::map<std::filesystem::path, Known>> known_; ///< by the folder of a capture
};

/// The most time-consuming launch of a kernel. nullopt: none fits its parameters, or they were not recorded.
std::optional<analysis::CapturedLaunch> captured_launch(const CapturedRun &run,
                                                        const clang::FunctionDecl &kernel);

/// The kernel's part of the run's GPU time. nullopt: it was not launched.
std::optional<analysis::CapturedTime> captured_time(const CapturedRun &run,
                                                    const std::string &kernel);

} // namespace warpwright::server
