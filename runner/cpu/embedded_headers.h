// The headers of shim/, which the build embeds in the program.
#pragma once

#include <span>
#include <string_view>

namespace warpwright::runner::cpu {

struct EmbeddedHeader {
  std::string_view name; ///< file name, such as "cuda_fp16.h"
  std::string_view text;
};

std::span<const EmbeddedHeader> embedded_headers();

} // namespace warpwright::runner::cpu
