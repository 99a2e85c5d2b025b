// Snapshot of one version of a document: text, facts and defaults of the project. Snapshots are
// immutable once published, and features read documents only through them.
#pragma once

#include "analysis/consent/project_request.h"
#include "analysis/facts.h"
#include "server/protocol/position.h"
#include "server/source_hash.h"

#include <chrono>
#include <memory>

namespace warpwright::server {

/// Settings of .warpwright.toml besides parse settings, as far as the user approved the file. The
/// editor's settings override them.
struct ProjectDefaults {
  std::string runner; ///< URL of the user's own runner that the file names; empty: none
  std::string python; ///< interpreter with torch; empty: not set
  std::optional<std::chrono::milliseconds> budget;
  std::string policy; ///< in the form of server/policy_choice.h; empty: not set
  bool learn = true;  ///< false: the project's verdicts in the ledger teach nothing
  std::optional<Error> runner_error; ///< why the named runner cannot be used
  consent::ProjectFile file;         ///< the file and its requests
};

/// Result of one analysis of a file.
struct AnalysisResult {
  analysis::FileFacts facts;
  ProjectDefaults project;
};

struct Snapshot {
  Snapshot(std::string uri, std::int64_t version, std::shared_ptr<const std::string> text,
           AnalysisResult result, protocol::PositionEncoding encoding);

  const analysis::Kernel *find_kernel(const std::string &name) const;
  /// The kernel whose name, launch or body (in this order) holds `offset`, and the range to
  /// highlight.
  struct Hit {
    const analysis::Kernel *kernel = nullptr;
    Range range;
    bool on_name = false; ///< the name in the definition or a launch; else only the body
  };
  Hit hit(std::size_t offset) const;

  std::string uri;
  std::int64_t version;
  std::shared_ptr<const std::string> text;
  analysis::FileFacts facts;
  ProjectDefaults project;
  protocol::PositionMap positions;
  std::vector<std::string> source_hashes; ///< per kernel; empty without a slice
};

/// Language of a file by its name: "python", "cpp" for C++ without CUDA's extensions, else "cuda".
std::string language_of(const std::string &path);

using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace warpwright::server
