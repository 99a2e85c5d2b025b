// Statistics of a buffer's elements. Thread: any.
#pragma once

#include "runner/capture/files/contents.h"

#include <string_view>

namespace warpwright::capture {

/// Quantiles of the elements as each integer and floating-point type, with their order. Quantiles are those
/// of a sample if there are many elements; the least and the greatest integer are exact. A floating-point type is left
/// out if elements are infinite or no numbers.
/// @param bytes aligned to 8
std::map<std::string, ElementStatistics> statistics_of(std::string_view bytes);

} // namespace warpwright::capture
