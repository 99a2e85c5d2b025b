// The checks and applications of all moves, for the table in registry.cpp. Each pair lives in the file of its name.
// Thread: that of the state's unit.
#pragma once

#include "generator/text/moves/move_kind.h"

namespace warpwright::generator {

#define WARPWRIGHT_MOVE(name)                                                                      \
  Choices check_##name(const KernelSource &source);                                                \
  Result<Edits> apply_##name(const KernelSource &source, const Parameters &parameters);

WARPWRIGHT_MOVE(gemm)
WARPWRIGHT_MOVE(tiled_transpose)
WARPWRIGHT_MOVE(row_reduction)
WARPWRIGHT_MOVE(online_softmax)
WARPWRIGHT_MOVE(array_reduction)
WARPWRIGHT_MOVE(shared_tiling)
WARPWRIGHT_MOVE(block_size)
WARPWRIGHT_MOVE(grid_stride)
WARPWRIGHT_MOVE(coarsen)
WARPWRIGHT_MOVE(vectorize)
WARPWRIGHT_MOVE(remap_threads)
WARPWRIGHT_MOVE(shuffle_reduction)
WARPWRIGHT_MOVE(aggregate_atomics)
WARPWRIGHT_MOVE(privatize_histogram)
WARPWRIGHT_MOVE(pad_shared)
WARPWRIGHT_MOVE(restrict_const)
WARPWRIGHT_MOVE(unroll)
WARPWRIGHT_MOVE(float_literals)
WARPWRIGHT_MOVE(launch_bounds)

#undef WARPWRIGHT_MOVE

} // namespace warpwright::generator
