#include "runner/connect/choose_device.h"

#include <algorithm>
#include <charconv>

namespace warpwright::runner {

Result<model::DeviceInfo> choose_device(const RunnerInfo &info, const std::string &wanted) {
  const std::size_t colon = std::min(wanted.find(':'), wanted.size());
  std::size_t index = 0;
  const char *first = wanted.data() + std::min(colon + 1, wanted.size()),
             *last = wanted.data() + wanted.size();
  const bool is_numbered = colon < wanted.size();
  const auto read = std::from_chars(first, last, index);
  if (is_numbered && (read.ec != std::errc{} || read.ptr != last))
    return fail("'" + wanted + "' names no device", "Write cuda, cuda:1 or cpu");
  for (const model::DeviceInfo &device : info.devices)
    if (wanted.empty() || (device.kind == wanted.substr(0, colon) && index-- == 0))
      return device;
  std::string notes;
  for (const std::string &note : info.notes)
    notes += (notes.empty() ? "" : "; ") + note;
  return fail("the runner has no device " + (wanted.empty() ? "at all" : wanted) +
                  (notes.empty() ? "" : " (" + notes + ")"),
              wanted.starts_with("cuda") ? "Use --device cpu (in an editor the setting device) to "
                                           "check correctness here, or --runner URL for a machine "
                                           "with a GPU"
                                         : "See what is missing with: warpwright doctor");
}

} // namespace warpwright::runner
