// What is known of one version of one document. Immutable once published; every feature reads only
// this.
#pragma once

#include "analysis/consent/project_request.h"
#include "analysis/facts.h"
#include "server/protocol/position.h"
#include "server/source_hash.h"

#include <chrono>
#include <memory>

namespace warpwright::server {

/// What .warpwright.toml says beyond how to parse, as far as the user approved it; the editor's
/// settings come over it.
struct ProjectDefaults {
  std::string runner; ///< URL of the user's own runner that it names; empty: it says nothing
  std::string python; ///< interpreter with torch; empty: it says nothing
  std::optional<std::chrono::milliseconds> budget;
  std::string policy; ///< as server/policy_choice.h reads it; empty: it says nothing
  std::optional<Error> runner_error; ///< why the runner that it names cannot be used
  consent::ProjectFile file;         ///< and what it asks for
};

/// What one analysis of a file gives.
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
  std::vector<std::string> source_hashes; ///< of each kernel, empty where there is no slice
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

} // namespace warpwright::server
