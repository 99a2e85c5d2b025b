// Where the weights of the builtin policy are that came with the program. Thread: any.
#pragma once

#include <string>

namespace warpwright::trainer {

/// $WARPWRIGHT_WEIGHTS; share/warpwright/policy.safetensors of the installation that this program is in, or, of a build, the
/// source tree's trainer/weights. Empty: there are none.
std::string shipped_weights();

} // namespace warpwright::trainer
