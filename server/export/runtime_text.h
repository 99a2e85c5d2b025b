// Texts that exported modules may bring along, embedded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpwright::server {

struct NamedText {
  std::string_view name, text;
};

/// The Python modules of the package warpwright_runtime as files, each after those that it imports.
const std::vector<NamedText> &runtime_modules();
/// The C++ that the package's extension is compiled from, as one text.
const std::string &runtime_extension();
/// Device headers, longest first: warpwright_runtime has them in its folder include/warpwright.
const std::vector<NamedText> &device_headers();

/// The text with `by` in each place of `what`, which is not empty.
std::string replaced(std::string text, std::string_view what, std::string_view by);

/// What a variant in a C++ file brings along. @COUNT@ kernels, their @NAMES@ and @SHARED@ bytes, further @OPTIONS@ of NVRTC, the
/// @CAPABILITY@ of the GPU or 0 are filled in.
extern const char *const kRuntimeCppVariant;

} // namespace warpwright::server
