// The places of threads in a launch with several threads for each thread of the original.
#pragma once

#include "generator/text/source/index_form.h"
#include "generator/text/source/render.h"

namespace warpwright::source {

/// True if a built-in place is used without `.x`, `.y` or `.z`.
bool uses_whole_place(const clang::Stmt *body);

struct ThreadPlaces {
  Edits edits;              ///< of the uses of threadIdx.x, blockIdx.x and the extents
  std::string declarations; ///< of the names that the edits use
};

/// The places for `threads` neighboring threads along x that stand for one.
/// @param grows_block the block grows along x by this factor; else the grid does, and the factor
///   divides the block
/// Errors: a place that comes from a macro.
Result<ThreadPlaces> divided_places(const IndexReader &form, int threads, bool grows_block);

} // namespace warpwright::source
