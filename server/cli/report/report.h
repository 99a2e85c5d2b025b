// Report of one run of `warpwright optimize` as plain data, and its renderings: table, JSON, HTML.
//
// The renderers are pure functions of these structs. They show only values of a verdict: an
// unmeasured value is a dash or null, never 0. Verdicts of the CPU backend carry no times, so a CPU
// time never appears beside a GPU time.
#pragma once

#include "support/error.h"
#include "support/model/verdict_text.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace warpwright::cli {

struct ReportVariant {
  std::vector<std::string> moves; ///< "tile(block=64)", in the order applied; empty is the original
  model::Verdict verdict;
  std::string by;             ///< proposer: "builtin", "endpoint"; empty: the search
  std::string not_applicable; ///< why the variant cannot be written into the file; empty: it can
  std::string source;         ///< device source of a variant that cannot be written
};

/// Result of --apply.
struct ApplyResult {
  enum class State { Applied, Refused, NothingToApply };
  State state = State::NothingToApply;
  std::string message; ///< one sentence: the files written, or the reason why none was
};

struct KernelReport {
  std::string file, name;
  std::size_t line = 0;
  std::optional<Error>
      error; ///< why the search failed; `variants` are then those found before
  std::vector<std::string> assumptions; ///< of task inference
  std::vector<std::pair<std::string, std::string>>
      missing;         ///< name and question of each unknown fact
  std::string comment; ///< structured comment to insert when facts are missing
  std::string sizes;   ///< "n=16777216"
  std::string task_hash;
  std::optional<std::int64_t> work_bytes,
      work_flops;                      ///< least work of any plan, for the roofline
  std::vector<ReportVariant> variants; ///< in the order tried
  std::optional<std::size_t>
      best;         ///< variant to apply: the fastest, or on a CPU the first verified
  std::string diff; ///< unified diff of the best variant
  std::string
      policy; ///< proposer: "builtin", "search"; with a reason if it is not the requested one
  std::string analysis;               ///< a trained policy's text on the kernel; empty: none
  std::vector<std::string> baselines; ///< torch modules: best variant vs. each baseline, one line each
  std::optional<ApplyResult> apply;
  double seconds = 0; ///< wall time of the search
};

struct ProgramReport; // program_report.h

struct Report {
  std::string version;
  std::string runner; ///< the runner's URL; empty: started by warpwright
  std::string command;
  std::string date; ///< ISO 8601, UTC
  std::optional<model::DeviceInfo>
      device;                     ///< device of the verdicts; absent if no runner answered
  std::vector<std::string> notes; ///< the runner's notes: why a backend is missing
  std::vector<Error>
      failures; ///< failures not of one kernel: unreadable files, no runner
  std::vector<KernelReport> kernels;
  std::shared_ptr<const ProgramReport> program; ///< of --program; null: only kernels were optimized
};

/// Whether the device is a GPU, which can measure times.
bool on_gpu(const Report &report);

/// Indices of the variants in reading order: fastest first, then verified variants without a time,
/// then the rest in the order tried.
std::vector<std::size_t> reading_order(const KernelReport &kernel);

/// Time of the reference, from the best variant's verdict, else from the first verdict with one.
const model::Time *reference_time(const KernelReport &kernel);

/// "tile(64) + vectorize(4)", or "original".
std::string moves_text(const std::vector<std::string> &moves);
using model::time_text;
/// "3.1e-07", or "exact" for 0, or "-" when absent.
std::string error_text(const std::optional<double> &error);
/// Error to show: against fp64 if known, else the largest relative error against the reference.
std::optional<double> shown_error(const model::Errors &errors);

struct TableOptions {
  bool color = false;
  std::size_t width = 100;   ///< columns of the terminal
  std::size_t max_rows = 16; ///< further variants are summed up in one line
};

/// Heading, table, diff and next step, for a terminal.
std::string render_text(const KernelReport &kernel, const Report &report,
                        const TableOptions &options);
/// The document of --json.
nlohmann::json render_json(const Report &report);
/// One self-contained HTML page.
std::string render_html(const Report &report);

} // namespace warpwright::cli
