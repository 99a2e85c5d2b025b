// What was measured once and is kept for ever: states of tasks, and the verdicts on them.
//
// A state is a task's source after a list of moves; states whose texts come out the same share their verdict. The file
// (record_book.h) is JSON lines, appended to and never rewritten: a process that is killed loses at most its last line.
// Verdicts keep what learning and reports need, not the whole model::Verdict: outcome, times, interval, compile report,
// what bounds the kernel. Unavailable is absent, never 0. Thread: values, any.
#pragma once

#include "support/model/verdict.h"

#include <optional>
#include <string>
#include <vector>

namespace warpwright::trainer {

/// Move texts in the order made: {"restrict_const()", "vectorize(width=4)"}. Empty: the source as it is.
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

/// One verdict, cut down.
struct Measured {
  model::Outcome outcome = model::Outcome::Unsupported;
  std::string message; ///< of failures: why, at most 300 bytes
  std::string device;  ///< "NVIDIA H200"; "cpu" for the CPU backend, which yields no times
  std::optional<MeasuredTime> reference_time, candidate_time; ///< device time
  std::optional<MeasuredRatio> speedup;                       ///< of device time
  std::optional<double> as_called;                            ///< ratio of times as called
  std::optional<int> registers;                               ///< a thread, candidate
  std::optional<std::int64_t> shared_bytes, spill_bytes;      ///< candidate
  std::optional<double> occupancy;                            ///< 0..1, candidate
  std::optional<model::Bound> bound, reference_bound;
  bool confirmed = false; ///< measured again in a fresh worker, and the two agree
  double seconds = 0;     ///< what it took, compile included
  std::string date;       ///< ISO 8601, UTC
  bool operator==(const Measured &) const = default;
};

/// What verdicts of a device are kept under: a GPU's name, or "cpu".
std::string device_key(const model::DeviceInfo &device);

/// @param seconds wall time that the verdict took
Measured cut_down(const model::Verdict &verdict, double seconds);

/// A state and what may follow. `legal` is complete: a move that is not in it is illegal there.
struct StateRecord {
  Moves moves;
  std::string text_hash; ///< first 16 digits of the SHA-256 of the source after the moves
  Moves legal;           ///< the legal next moves, in the generator's order
};

/// A proposal that was suspected to cheat: kept as a case for the adversary suite.
struct CheatCase {
  std::string task;
  Moves moves;
  std::string plan; ///< JSON
  Measured measured;
};

} // namespace warpwright::trainer
