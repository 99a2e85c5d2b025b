// Records of verified plans, jobs of a search, and what was confirmed for whole graphs: files in one folder of the user's.
//
//   ENVIRONMENT/plans/KEY.json      a record: the region's program, a plan, its verdict
//   ENVIRONMENT/jobs/KEY.json       a region that nobody searched yet
//   ENVIRONMENT/graphs/KEY.json     a binding: the regions of one whole graph whose plans made it faster, in one mode
//   ENVIRONMENT/quarantine/KEY.json a plan that gave a wrong result here, with the reason
// ENVIRONMENT is a hash of what a verdict depends on: GPU, driver, PyTorch and its libraries, precision flags. Files are replaced as a
// whole, so a reader finds an old one or a new one, and a damaged one is as good as none.
#pragma once

#include "support/error.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

namespace warpwright::regions {

inline constexpr int kFormat = 1; ///< of records; another version's are left alone

class Store {
public:
  enum class Kind { Plan, Job, Binding, Quarantine };

  /// @param environment what a verdict depends on; any object
  Store(const std::filesystem::path &root, const nlohmann::json &environment);
  /// The folder of one environment that is there.
  static Store at(std::filesystem::path folder);

  /// Absent: not there, damaged, or of another format.
  std::optional<nlohmann::json> read(Kind kind, const std::string &key) const;
  /// Errors: a key that is no hash; the folder cannot be written.
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
