// Built-in declarations for the stub pass, embedded in the binary.
//
// Each group declares the common names of one library, without bodies. Groups that are not always
// needed are parsed only for files that mention them. Thread: any; the texts are constants.
#pragma once

#include <span>
#include <string_view>

namespace warpwright::analysis {

/// Folder in which Clang finds the built-in headers.
inline constexpr std::string_view kStubDirectory = "/.warpwright-stub/";

struct StubHeader {
  std::string_view name; ///< file name, "cuda.h"
  std::string_view text;
  /// A text that contains any of these words needs the group; empty: every text needs it.
  std::span<const std::string_view> mentions;
  bool is_precompiled = false; ///< part of stub_precompiled()
};

/// All groups, in the order in which they must be included.
std::span<const StubHeader> stub_headers();

/// The core groups as a precompiled header, built together with this project with the stub pass's
/// flags.
std::string_view stub_precompiled();

} // namespace warpwright::analysis
