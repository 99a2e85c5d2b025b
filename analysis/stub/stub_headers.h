// The built-in declarations that the stub pass parses against, carried inside the binary.
//
// Each group declares what users commonly write of one library, without bodies; the groups beyond
// `cuda` are only parsed by files that mention them. Thread: any; the texts are constants.
#pragma once

#include <span>
#include <string_view>

namespace warpwright::analysis {

struct StubHeader {
  std::string_view name; ///< file name, "cuda.h"
  std::string_view text;
  /// The group is needed by a text that holds any of these; empty: always needed.
  std::span<const std::string_view> mentions;
  bool is_precompiled = false; ///< part of stub_precompiled()
};

/// In the order in which they must be included.
std::span<const StubHeader> stub_headers();

/// The core groups as Clang's precompiled header, made when this project was built with the flags of the stub pass.
std::string_view stub_precompiled();

} // namespace warpwright::analysis
