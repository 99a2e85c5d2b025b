// Store of verified plans, search jobs and results for whole graphs, as files in one folder of the user.
//
//   ENVIRONMENT/plans/KEY.json      a record: the region's program, a plan, its verdict
//   ENVIRONMENT/jobs/KEY.json       a region without a search so far
//   ENVIRONMENT/graphs/KEY.json     a binding: the regions of one whole graph whose plans made it faster, in one mode
//   ENVIRONMENT/quarantine/KEY.json a plan that gave a wrong result here, with the reason
//   ENVIRONMENT/reports/KEY.json    what optimize() found for one class, for editors: regions/report.h
// ENVIRONMENT is a hash of all that a verdict depends on: GPU, driver, PyTorch and its libraries, precision flags.
// Files are replaced as a whole, so a reader sees the old or the new file. A damaged file counts as absent.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace warpwright::regions {

/// Version of the records; those of others are ignored. Launches of plans of version 1 could read what an earlier launch had
/// not written yet.
inline constexpr int kFormat = 2;

class Store {
public:
  enum class Kind { Plan, Job, Binding, Quarantine, Report };

  /// @param environment object with all that a verdict depends on; only its hash matters
  Store(const std::filesystem::path &root, const nlohmann::json &environment);
  /// The store in an environment's existing folder.
  static Store at(std::filesystem::path folder);

  /// The user's store: WARPWRIGHT_STORE, else in the cache folder; must match store() of
  /// runtime/warpwright/environment.py. Empty: neither XDG_CACHE_HOME nor HOME is set.
  static std::filesystem::path default_root();

  /// The record; nullopt when it is missing, damaged or of another format, or a report of more than 64 KiB.
  std::optional<nlohmann::json> read(Kind kind, const std::string &key) const;
  /// Replaces the record. Errors: a key that is no hash; a folder that cannot be written.
  Result<void> write(Kind kind, const std::string &key, nlohmann::json document) const;
  void remove(Kind kind, const std::string &key) const;
  std::vector<std::string> keys(Kind kind) const;
  const std::filesystem::path &folder() const { return folder_; }

private:
  Store() = default;
  std::filesystem::path path(Kind kind, const std::string &key) const;
  std::filesystem::path folder_;
  nlohmann::json environment_;
};

} // namespace warpwright::regions
