// The files, as the build embeds them.
#include "server/torch/runtime_text.h"

#include <algorithm>

namespace warpwright::server {

const std::vector<NamedText> &runtime_modules() {
  static const std::vector<NamedText> modules{
      {"extension",
#include "runtime/warpwright_runtime/extension.py.inc"
      },
      {"description",
#include "runtime/warpwright_runtime/description.py.inc"
      },
      {"driver",
#include "runtime/warpwright_runtime/driver.py.inc"
      },
      {"guard_values",
#include "runtime/warpwright_runtime/guard_values.py.inc"
      },
      {"nvrtc",
#include "runtime/warpwright_runtime/nvrtc.py.inc"
      },
      {"exported_plan",
#include "runtime/warpwright_runtime/exported_plan.py.inc"
      },
  };
  return modules;
}

const std::string &runtime_extension() {
  static const std::string text = [] {
    std::string all;
    for (const char *part : {
#include "runtime/warpwright_runtime/call/objects.h.inc"
             ,
#include "runtime/warpwright_runtime/call/arguments.h.inc"
             ,
#include "runtime/warpwright_runtime/call/operation.h.inc"
             ,
#include "runtime/warpwright_runtime/call/known.h.inc"
             ,
#include "runtime/warpwright_runtime/call/guards.h.inc"
             ,
#include "runtime/warpwright_runtime/call/plan.h.inc"
             ,
#include "runtime/warpwright_runtime/call/executor.h.inc"
             ,
#include "runtime/warpwright_runtime/call/region_operator.h.inc"
             ,
#include "runtime/warpwright_runtime/call/module.cpp.inc"
         })
      all += part;
    return all;
  }();
  return text;
}

const std::vector<NamedText> &device_headers() {
  static const std::vector<NamedText> headers = [] {
    std::vector<NamedText> all{
#include "server/torch/device_headers.inc"
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
#include "server/torch/cpp_variant.inc.inc"
    ;

} // namespace warpwright::server
