// What compute-sanitizer printed, as a check of the verdict.
//
// Format: the text that its manual shows (Compute Sanitizer 2025, "Memcheck error types", "Understanding
// Racecheck Analysis Reports", "Understanding Initcheck/Synccheck Reports") and that releases 11.x to 13.0
// print; its XML is not documented. Only the first finding is worded, with the count of all. Thread: any.
#pragma once

#include <cstdint>
#include <string>

namespace warpwright::runner::deep {

struct SanitizerReport {
  bool complete = false;      ///< it has a summary: the tool ran to its end
  std::int64_t errors = 0;    ///< as the summary counts them
  std::int64_t warnings = 0;  ///< racecheck only: hazards that it does not call errors
  std::string first;          ///< one sentence about the first finding; empty without one
  std::string trouble;        ///< the tool's own complaint, where it made one
  std::string launch_failure; ///< the launch's, where it could not do its work
};

/// @param output stdout and stderr of the tool and of the launch, whose lines "launch: buffer NAME ADDRESS
/// BYTES" and "launch: at SIZES" name what the tool knows as addresses, and "launch: failed: REASON" why it gave up
SanitizerReport read_sanitizer_report(const std::string &output);

} // namespace warpwright::runner::deep
