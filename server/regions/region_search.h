// Search for plans of a model's regions: each job of a store is traced, optimized and verified, and kept if it is
// faster.
//
// A region counts as faster if its plan beats torch.compile's code for the region by the interval of the ratio, both as
// CUDA graphs. The Python package measures in the user's process whether the whole model gains. Without a GPU, a
// verified plan is kept and its record says that it was not measured.
#pragma once

#include "regions/store.h"
#include "runner/connect/connect.h"
#include "server/optimize/torch_optimizer.h"

namespace warpwright::server {

struct RegionSearchOptions {
  std::vector<std::string> keys; ///< of jobs; empty: all jobs
  TorchLimits limits;
  runner::VerifyOptions verify;
  std::chrono::seconds budget{600}; ///< no region starts after it
  int at_once = 1; ///< regions; a runner whose workers share a GPU measures one while others compile
};

struct RegionResult {
  std::string key;
  std::string outcome; ///< "faster", "faster as called", "not faster", "verified" (not measured), "no plan"
  std::string reason;  ///< why not, for people
  std::optional<double> ratio; ///< to torch.compile in a CUDA graph
};

/// Calls do not overlap; they come from the threads that search.
struct RegionSearchEvents {
  std::function<void(const std::string &key, const std::string &stage)> on_stage;
  std::function<void(const RegionResult &, std::size_t searched, std::size_t all)> on_result;
};

/// Blocks. If `stop` is requested, it ends early and keeps the results so far.
/// Errors: the store cannot be written.
Result<void> search_regions(const regions::Store &store, runner::BlockingClient &client,
                            const model::DeviceInfo &device, const RegionSearchOptions &options,
                            const RegionSearchEvents &events, std::stop_token stop);

} // namespace warpwright::server
