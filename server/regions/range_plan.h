// Verified plans for ranges of sizes, made from the best plan of a search at one size.
//
// The plan's choices are kept and it is written at a few other sizes. Its numbers become expressions over the sizes
// (support/symbolic/fit.h), the kernels' numbers variables (size_constants.h). The result is compared with the
// generator's own text near the ends of the range, so that no index overflows there, and verified by the runner at the
// ends, around multiples of tiles, at primes and at random sizes.
#pragma once

#include "regions/graph.h"
#include "regions/shape_range.h"
#include "runner/connect/connect.h"
#include "server/optimize/torch_optimizer.h"

namespace warpwright::server {

/// A region and the sizes of its symbols "n0", "n1", ...
struct SizedRegion {
  nlohmann::json program, profile;
  std::map<std::string, regions::Symbol> symbols;

  symbolic::Sizes hints() const;
  /// Errors: a symbol without a size.
  Result<model::TorchModule> module_at(const symbolic::Sizes &sizes) const;
};

struct RangePlan {
  regions::ShapeRange range;
  std::string source;  ///< of the kernels, at the hints
  std::string literal; ///< likewise
  model::Verdict verdict; ///< at the hints, measured where the options say so
  int verified = 0;       ///< sizes at which the runner ran it
};

/// @param best the search's result at the hints
/// @param measured options of the measurement at the hints
/// Errors: why there is no plan for more than one size. The plan at one size stays right.
Result<RangePlan> plan_range(const SizedRegion &region, const search::TorchProposal &best,
                             runner::BlockingClient &client, const model::DeviceInfo &device,
                             const runner::VerifyOptions &verify, const runner::VerifyOptions &measured, std::stop_token stop,
                             const std::function<void(const std::string &)> &on_stage);

} // namespace warpwright::server
