// What one run of `warpwright optimize` found out, as plain data, and its renderings: table, JSON,
// HTML.
//
// The renderers are pure functions of these structs. They show only what a verdict holds:
// unmeasured is a dash or null, never 0, and a time of the CPU backend is never shown beside one of
// a GPU because verdicts of the CPU backend carry none.
#pragma once

#include "support/error.h"
#include "support/model/verdict_text.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::cli {

struct ReportVariant {
  std::vector<std::string> moves; ///< "tile(block=64)", in the order applied; empty is the original
  model::Verdict verdict;
  std::string by;             ///< "builtin", "endpoint"; empty: the search
  std::string not_applicable; ///< why it cannot be written into the file; empty: it can
  std::string source;         ///< of one that cannot: its device source
};

/// What --apply did, when it was asked for.
struct ApplyResult {
  enum class State { Applied, Refused, NothingToApply };
  State state = State::NothingToApply;
  std::string message; ///< one sentence: what was written, or why nothing was
};

struct KernelReport {
  std::string file, name;
  std::size_t line = 0;
  std::optional<Error>
      error; ///< why the kernel could not be optimised; the variants are then those found before
  std::vector<std::string> assumptions; ///< of task inference
  std::vector<std::pair<std::string, std::string>>
      missing;         ///< name and question of what is not known
  std::string comment; ///< the structured comment to insert when something is missing
  std::string sizes;   ///< "n=16777216"
  std::string task_hash;
  std::optional<std::int64_t> work_bytes,
      work_flops;                      ///< the least any plan moves and computes, for the roofline
  std::vector<ReportVariant> variants; ///< in the order tried
  std::optional<std::size_t>
      best;         ///< index of the variant to apply: the fastest, or on a CPU the first verified
  std::string diff; ///< unified, of the best
  std::string
      policy; ///< that proposed: "builtin", "search"; and why, where it is not the one asked for
  std::string analysis;               ///< what a trained policy said of the kernel; empty: nothing
  std::vector<std::string> baselines; ///< of torch modules: the best against each, a line each
  std::optional<ApplyResult> apply;
  double seconds = 0; ///< wall time of the search
};

struct Report {
  std::string version;
  std::string runner; ///< its URL; empty: started by warpwright
  std::string command;
  std::string date; ///< ISO 8601, UTC
  std::optional<model::DeviceInfo>
      device;                     ///< that verdicts come from; absent when no runner answered
  std::vector<std::string> notes; ///< of the runner: why a backend is missing
  std::vector<Error>
      failures; ///< that concern no single kernel: files that cannot be read, no runner
  std::vector<KernelReport> kernels;
};

/// True when times were or could have been measured.
bool on_gpu(const Report &report);

/// Indices into the variants as people want to read them: fastest first, then verified without a
/// time, then the rest in the order tried.
std::vector<std::size_t> reading_order(const KernelReport &kernel);

/// The reference's time: of the best variant's verdict, else of the first one that has it.
const model::Time *reference_time(const KernelReport &kernel);

/// "tile(64) + vectorize(4)", or "original".
std::string moves_text(const std::vector<std::string> &moves);
using model::time_text;
/// "3.1e-07", or "exact" for 0, or "-" when absent.
std::string error_text(const std::optional<double> &error);
/// The larger of the error against the reference and against fp64 as people read it: relative,
/// against fp64 where known.
std::optional<double> shown_error(const model::Errors &errors);

struct TableOptions {
  bool color = false;
  std::size_t width = 100;   ///< columns of the terminal
  std::size_t max_rows = 16; ///< the rest is summed up in one line
};

/// Heading, table, diff and what to do next, for a terminal.
std::string render_text(const KernelReport &kernel, const Report &report,
                        const TableOptions &options);
/// The document of --json.
nlohmann::json render_json(const Report &report);
/// One self-contained HTML page.
std::string render_html(const Report &report);

} // namespace warpwright::cli
