// Report of warpwright.optimize() about one class, for editors: what its graphs hold and which plans they use.
//
//   ENVIRONMENT/reports/KEY.json    KEY is report_key() of the class and its file
// The Python package writes it through the core (runtime/warpwright/search.py). Thread: any.
#pragma once

#include "regions/store.h"

#include <string>
#include <vector>

namespace warpwright::regions {

/// Ratio of the time of torch.compile's own code to that of a graph with plans, as called.
struct GraphGain {
  double ratio = 0, low = 0, high = 0; ///< 95% confidence interval
};

struct ModelReport {
  std::string class_name; ///< Python's __qualname__
  std::string file_hash;  ///< SHA-256 of the file when the model was optimized
  std::string mode, device, date;
  int graphs = 0, breaks = 0, operators = 0, covered = 0, plans = 0;
  std::vector<GraphGain> gains; ///< of the graphs that use plans, if a GPU measured them
};

/// @param file absolute path without symbolic links
std::string report_key(const std::string &class_name, const std::string &file);

/// The newest report about a class in all environments of a store. Reads files of at most 64 KiB in
/// at most 64 environments. @return nullopt: there is none, or it is damaged
std::optional<ModelReport> read_report(const std::filesystem::path &root,
                                       const std::string &class_name,
                                       const std::filesystem::path &file);

} // namespace warpwright::regions
