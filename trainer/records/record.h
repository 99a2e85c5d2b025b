// Types of permanent records: states of tasks, and verdicts on them.
//
// A state is a task's source after a list of moves; states with equal texts share their verdict. The file
// (record_book.h) has JSON lines and is only appended to, so a killed process loses at most its last line. A recorded
// verdict has the parts of model::Verdict that learning and reports need: outcome, times, interval, compile report and
// what bounds the kernel. Unavailable values are absent, never 0. Thread: values, any.
#pragma once

#include "support/model/verdict.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::trainer {

/// Move texts in order: {"restrict_const()", "vectorize(width=4)"}. Empty: the unchanged source.
using Moves = std::vector<std::string>;

struct MeasuredTime {
  double median_ns = 0, low_ns = 0, high_ns = 0; ///< median and its 95% confidence interval
  bool operator==(const MeasuredTime &) const = default;
};

struct MeasuredRatio {
  double ratio = 0, low = 0, high = 0; ///< reference / candidate and its 95% confidence interval
  int samples = 0;                     ///< pairs
  bool operator==(const MeasuredRatio &) const = default;
};

/// The recorded part of a verdict.
struct Measured {
  model::Outcome outcome = model::Outcome::Unsupported;
  std::string message; ///< reason of a failure, at most 300 bytes
  std::string device;  ///< "NVIDIA H200"; "cpu" for the CPU backend, which yields no times
  std::optional<MeasuredTime> reference_time, candidate_time; ///< device time
  std::optional<MeasuredRatio> speedup;                       ///< of device time
  std::optional<double> as_called;                            ///< ratio of times as called
  std::optional<int> registers;                               ///< per thread, candidate
  std::optional<std::int64_t> shared_bytes, spill_bytes;      ///< candidate
  std::optional<double> occupancy;                            ///< 0..1, candidate
  std::optional<model::Bound> bound, reference_bound;
  bool confirmed = false; ///< a second measurement, in a fresh worker, agreed
  double seconds = 0;     ///< duration, compilation included
  std::string date;       ///< ISO 8601, UTC
  bool operator==(const Measured &) const = default;
};

/// Key of a device's verdicts: the GPU's name, or "cpu".
std::string device_key(const model::DeviceInfo &device);

/// Reduces a verdict to its recorded part. @param seconds wall time that the verdict took
Measured cut_down(const model::Verdict &verdict, double seconds);

/// Measurement of the unchanged source, taken from the reference's side of any candidate's verdict.
Measured original_of(const model::Verdict &verdict);

/// A state and its legal moves. `legal` is complete: any other move is illegal in this state.
struct StateRecord {
  Moves moves;
  std::string text_hash; ///< first 16 digits of the SHA-256 of the source after the moves
  Moves legal;           ///< the legal next moves, in the generator's order
};

/// A proposal suspected of cheating, kept as a case for the adversary suite.
struct CheatCase {
  std::string task;
  Moves moves;
  std::string plan; ///< JSON; empty: the moves lead to the plan
  Measured measured;
};

} // namespace warpwright::trainer
