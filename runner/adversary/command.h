// The command `warpwright-runner adversary`.
#pragma once

#include <string>

namespace warpwright::runner {

struct AdversaryCommand {
  std::string device, url, only; ///< `only`: the name of one case
  bool as_json = false, list = false;
};

/// Cheating, broken and honest candidates through a service (runner/adversary).
/// 0: every case ended as it must; 1: one did not; 2: nothing could run.
int run_adversary(const AdversaryCommand &command);

} // namespace warpwright::runner
