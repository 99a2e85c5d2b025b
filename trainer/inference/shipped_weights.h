// Path of the builtin policy's weights that ship with the program. Thread: any.
#pragma once

#include <string>

namespace warpwright::trainer {

/// The first of: $WARPWRIGHT_WEIGHTS; share/warpwright/policy.safetensors of this program's installation;
/// trainer/weights of the source tree, for a build. Empty: there are none.
std::string shipped_weights();

} // namespace warpwright::trainer
