// A mean over processes, for gradients: c10d behind two functions. Includes LibTorch; C++17.
//
// c10d's backends derive from ProcessGroup in LibTorch 1.13 and from Backend in 2.x; nothing else of that shows here. Thread: one.
#pragma once

#include "trainer/network/network.h"

#include <ATen/core/Tensor.h>

namespace warpwright::trainer {

/// In place, over all processes of the world; nothing when alone. Every process calls it with the same shapes, in the same order.
void average_over_world(std::vector<at::Tensor> &tensors);

} // namespace warpwright::trainer
