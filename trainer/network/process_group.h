// Mean of gradients over processes, with c10d. Includes LibTorch; C++17.
//
// The implementation supports LibTorch 1.13, where c10d's backends derive from ProcessGroup, and 2.x, where they derive
// from Backend. Thread: one.
#pragma once

#include "trainer/network/network.h"

#include <ATen/core/Tensor.h>

namespace warpwright::trainer {

/// Replaces the tensors by their means over the world; does nothing with one process. Every process must call it with
/// the same shapes in the same order.
void average_over_world(std::vector<at::Tensor> &tensors);

} // namespace warpwright::trainer
