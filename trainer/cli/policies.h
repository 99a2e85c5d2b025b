// Factory of policies by the names that configurations use. Thread: main.
#pragma once

#include "trainer/config/config.h"
#include "trainer/policy/policy.h"

namespace warpwright::trainer {

/// @param name "random", "evolve", "dense", "builtin", "builtin:WEIGHTS", "endpoint", "endpoint:URL#MODEL"
/// Errors: another name; no weights, or unreadable ones; endpoint settings or a key that cannot be used.
Result<std::unique_ptr<Policy>> make_policy(const Config &config, const std::string &name,
                                            std::uint64_t seed);

} // namespace warpwright::trainer
