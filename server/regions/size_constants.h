// Device source whose numbers depend on sizes, with these numbers moved into __constant__ variables.
//
// The compiled kernels then serve every size: whoever loads them sets the variables. Leaves out: dimensions of arrays
// and template arguments, which have to be numbers when the source is compiled; NVRTC refuses a source that has them.
#pragma once

#include "regions/shape_range.h"

namespace warpwright::server {

struct SizedSource {
  symbolic::FittedText text; ///< the initializers of the variables are its only values
  std::vector<regions::SizeConstant> constants;
};

/// @param sizes at which a number decides whether its variable has 32 bits
/// Errors: a number outside of functions that is no member of a class.
Result<SizedSource> with_size_constants(const symbolic::FittedText &source, const symbolic::Sizes &sizes);

} // namespace warpwright::server
