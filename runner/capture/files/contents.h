// Contents of buffers before launches, as statistics: contents.jsonl, and the list of launches to
// look at.
//
// Contents are seen in a second run of the program, in the folder "contents" of the capture. The
// command line writes wanted.jsonl there, and the library reads it. Values themselves are not kept.
// Thread: values, any.
#pragma once

#include "runner/capture/files/capture_files.h"

namespace warpwright::capture {

inline constexpr char kContentsFolder[] = "contents", kContentsFile[] = "contents.jsonl",
                      kWantedFile[] = "wanted.jsonl",
                      /// Environment of the second run: the path of wanted.jsonl.
    kWantedVariable[] = "WARPWRIGHT_CAPTURE_WANTED";

/// One launch among those of a kernel with one grid and block.
struct WantedLaunch {
  std::string kernel; ///< the mangled name
  Dimensions grid{}, block{};
  std::uint64_t run = 0; ///< which of them, from 0
};

/// Quantiles of a distribution, its least and its greatest value among them.
inline constexpr std::size_t kQuantiles = 33;

/// Quantiles of a buffer's elements.
struct ElementStatistics {
  std::string order; ///< "sorted": ascending; "permutation": each integer between the least and the greatest once; ""
  std::vector<double> quantiles; ///< at equal steps from the least to the greatest value
};

/// A buffer before a launch. Its type is not known to the capture, so it has statistics for each.
struct SeenBuffer {
  WantedLaunch launch;
  std::size_t parameter = 0; ///< its number
  std::uint32_t at = 0;      ///< the pointer's offset in the parameter, bytes
  std::uint64_t size_bytes = 0, seen_bytes = 0; ///< of the buffer; of its beginning that was seen
  std::map<std::string, ElementStatistics> types; ///< by the element type: "int32", "float16"
};

std::string to_line(const WantedLaunch &launch);
std::string to_line(const SeenBuffer &buffer);

/// Errors: the file cannot be read, or has another form; with the path.
Result<std::vector<WantedLaunch>> read_wanted(const std::filesystem::path &file);

/// The buffers that a capture has seen in all its processes. A missing folder has none. Errors: as
/// read_wanted.
Result<std::vector<SeenBuffer>> read_contents(const std::filesystem::path &capture);

} // namespace warpwright::capture
