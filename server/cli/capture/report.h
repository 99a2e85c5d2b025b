// Texts about captures for a terminal.
#pragma once

#include "server/cli/capture/store.h"

namespace warpwright::cli {

struct CaptureTableOptions {
  std::size_t width = 100; ///< columns
  std::size_t most_rows = 20;
};

/// The table of kernels by GPU time, over all processes, with what was left out. If nothing was
/// recorded, a sentence says why.
/// @param has_driver whether this machine has NVIDIA's driver
std::string render_capture(const std::vector<capture::ProcessFolder> &processes, bool has_driver,
                           const CaptureTableOptions &options = {});

/// One line for each capture.
std::string render_list(const std::vector<StoredCapture> &captures);

} // namespace warpwright::cli
