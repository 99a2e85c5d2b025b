// Tensor maps of arrays of 16-bit elements: how the bulk copy engine reads them tile by tile.
#pragma once

#include "support/error.h"
#include "support/model/graph.h"
#include "support/model/plan.h"

#include <optional>

namespace warpwright::elements {

/// Returns the stride of dimensions joined into one, in elements; nullopt: they have none.
std::optional<std::int64_t> merged(const model::Shape &sizes, const model::Shape &strides);

/// Lines of neighboring elements, in batches. Strides and the offset are in elements; a stride of 0 repeats.
struct Lines {
  std::int64_t count = 1, length = 1, stride = 0, offset = 0;
  model::Shape batch, batch_strides;
};

/// An array as the copy engine reads it, in the dimensions length, count, inner and outer batch, and the steps from batch to
/// batch. Its argument names no buffer.
struct Mapped {
  model::BufferArgument argument;
  std::int64_t inner = 1;                      ///< extent of the inner batch dimension
  std::int64_t inner_step = 0, outer_step = 0; ///< 1, or 0: the same for all
};

/// @param box_length, box_count elements and lines of a copy
/// Errors: lines that do not begin at multiples of 16 bytes, or whose batches need more than two strides.
Result<Mapped> map_of_lines(const Lines &lines, std::int64_t box_length, std::int64_t box_count);

} // namespace warpwright::elements
