// Interpretation of compute-sanitizer's output as a check of the verdict.
//
// Format: the text in its manual (Compute Sanitizer 2025, "Memcheck error types", "Understanding
// Racecheck Analysis Reports", "Understanding Initcheck/Synccheck Reports"), as printed by releases
// 11.x to 13.0; its XML is not documented. Only the first finding is described, with the number of
// all findings. Thread: any.
#pragma once

#include <cstdint>
#include <string>

namespace warpwright::runner::deep {

struct SanitizerReport {
  bool complete = false;      ///< there is a summary, so the tool ran to its end
  std::int64_t errors = 0;    ///< as the summary counts them
  std::int64_t warnings = 0;  ///< racecheck only: hazards that are not errors
  std::string first;          ///< one sentence about the first finding; empty without one
  std::string trouble;        ///< the tool's own error message, if any
  std::string launch_failure; ///< the launch's error message, if it failed
};

/// @param output stdout and stderr of the tool and of the launch. The launch's lines "launch:
/// buffer NAME ADDRESS BYTES" and "launch: at SIZES" give names for the tool's addresses and its
/// sizes; "launch: failed: REASON" is its error.
SanitizerReport read_sanitizer_report(const std::string &output);

} // namespace warpwright::runner::deep
