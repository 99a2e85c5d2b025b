// The files, as the build embeds them.
#include "server/export/runtime_text.h"

#include "support/words.h"

#include <algorithm>

namespace warpwright::server {

const std::vector<NamedText> &runtime_modules() {
  static const std::vector<NamedText> modules{
#include "server/export/modules.inc"
  };
  return modules;
}

const std::string &runtime_extension() {
  static const std::string text = joined(
      std::vector<NamedText>{
#include "server/export/parts.inc"
      },
      "", &NamedText::text);
  return text;
}

const std::vector<NamedText> &device_headers() {
  static const std::vector<NamedText> headers = [] {
    std::vector<NamedText> all{
#include "server/export/device_files.inc"
    };
    std::ranges::sort(all, std::ranges::greater(), [](const NamedText &one) { return one.text.size(); });
    return all;
  }();
  return headers;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

const char *const kRuntimeCppVariant =
#include "server/export/cpp_variant.inc.inc"
    ;

} // namespace warpwright::server
