// block_size() for kernels that use their global index alone: any block computes the same, if the grid
// keeps the number of threads.
#pragma once

#include "generator/text/moves/move_kind.h"

namespace warpwright::moves {

/// The choices of block_size(), without the block that the launch has.
std::vector<Parameters> block_choices(bool is_two_dimensional, std::int64_t x, std::int64_t y);

/// The offer for launches whose block the text need not tell. A block that does not divide the threads of
/// the launch needs a bounds check in the kernel. Errors: the reason why the block matters.
Result<Offer> block_size_by_index(const source::KernelSource &source);

} // namespace warpwright::moves
