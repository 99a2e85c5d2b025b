// The command `warpwright-runner adversary`.
#pragma once

#include <string>

namespace warpwright::runner {

struct AdversaryCommand {
  std::string device, url, only; ///< `only`: the name of one case
  bool as_json = false, list = false;
};

/// Runs cheating, broken and honest candidates through a service (runner/adversary).
/// Exit code 0: every case passed; 1: a case failed; 2: no case could run.
int run_adversary(const AdversaryCommand &command);

} // namespace warpwright::runner
