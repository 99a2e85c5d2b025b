// The headers of shim/, as the build embedded them.
#pragma once

#include <span>
#include <string_view>

namespace warpwright::runner::cpu {

struct EmbeddedHeader {
  std::string_view name; ///< "cuda_fp16.h"
  std::string_view text;
};

std::span<const EmbeddedHeader> embedded_headers();

} // namespace warpwright::runner::cpu
