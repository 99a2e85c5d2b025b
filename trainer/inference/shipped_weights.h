// Paths of the weights that ship with the program. Thread: any.
#pragma once

#include <string>

namespace warpwright::trainer {

/// A file of share/warpwright of this program's installation, or of trainer/weights of the source tree, for a build.
/// Empty: there is none.
std::string shipped_file(const std::string &name);

/// The builtin policy's weights: $WARPWRIGHT_WEIGHTS, else the shipped policy.safetensors. Empty: there are none.
std::string shipped_weights();

/// The learned cost model's weights: $WARPWRIGHT_RANKER, else the shipped ranker.bin. Empty: there are none.
std::string shipped_ranker();

} // namespace warpwright::trainer
