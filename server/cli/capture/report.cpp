// Implementation of the texts about captures.
#include "server/cli/capture/report.h"

#include "runner/capture/files/kernel_names.h"
#include "support/model/verdict_text.h"
#include "support/words.h"

#include <algorithm>
#include <array>
#include <set>

namespace warpwright::cli {
namespace {

using capture::Dimensions, capture::ProcessFolder, capture::Statistics;

constexpr std::size_t kColumns = 6;
using Cells = std::array<std::string, kColumns>;
constexpr std::size_t kNarrowestName = 24;

/// Kernels with one grid and block, whatever their parameters, or copies of one direction.
struct Row {
  std::string name, grid, block;
  std::uint64_t count = 0, timed = 0;
  double total_ns = 0;
};

/// "4x2": without the ones at the end.
std::string dimensions_text(const Dimensions &dimensions) {
  std::string text = std::to_string(dimensions[0]);
  for (std::size_t i = 1; i < 3; ++i)
    if (dimensions[i] != 1 || (i == 1 && dimensions[2] != 1))
      text += "x" + std::to_string(dimensions[i]);
  return text;
}

class Rows {
public:
  void add(const std::string &name, const std::string &grid, const std::string &block,
           const Statistics &runs) {
    if (runs.count + runs.in_graphs == 0)
      return;
    Row &row = rows_.try_emplace({name, grid, block}, Row{name, grid, block}).first->second;
    row.count += runs.count + runs.in_graphs;
    row.timed += runs.timed;
    row.total_ns += runs.total_ns;
  }
  /// Longest GPU time first.
  std::vector<Row> sorted() const {
    std::vector<Row> all;
    for (const auto &[key, row] : rows_)
      all.push_back(row);
    std::ranges::stable_sort(all, std::greater(), &Row::total_ns);
    return all;
  }

private:
  std::map<std::array<std::string, 3>, Row> rows_;
};

std::vector<Row> rows_of(const std::vector<ProcessFolder> &processes) {
  Rows rows;
  for (const ProcessFolder &process : processes) {
    for (const auto &[id, launch, runs] : process.launches)
      rows.add(capture::demangled(launch.kernel), dimensions_text(launch.grid),
               dimensions_text(launch.block), runs);
    for (const auto &[id, copy, runs] : process.copies)
      rows.add(copy.direction == "fill" ? "[fill]"
               : copy.direction.empty() ? "[copy]"
                                        : "[copy " + copy.direction + "]",
               "", "", runs);
  }
  return rows.sorted();
}

std::string shorten(const std::string &text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

Cells cells_of(const Row &row, double gpu_ns) {
  return {row.name,
          std::to_string(row.count),
          row.timed ? model::time_text(row.total_ns) : "-",
          row.timed && gpu_ns > 0 ? printed("%.1f%%", 100 * row.total_ns / gpu_ns) : "-",
          row.grid,
          row.block};
}

std::string render_rows(std::vector<Row> rows, double gpu_ns, const CaptureTableOptions &options) {
  std::vector<Cells> lines{{"kernel", "count", "GPU time", "share", "grid", "block"}};
  std::string rest;
  if (rows.size() > options.most_rows) {
    double hidden_ns = 0;
    for (std::size_t i = options.most_rows; i < rows.size(); ++i)
      hidden_ns += rows[i].total_ns;
    rest = "  and " + std::to_string(rows.size() - options.most_rows) + " more" +
           (gpu_ns > 0 ? printed(" with %.1f%% of the GPU time", 100 * hidden_ns / gpu_ns) : "") +
           "\n";
    rows.resize(options.most_rows);
  }
  for (const Row &row : rows)
    lines.push_back(cells_of(row, gpu_ns));
  std::array<std::size_t, kColumns> widths{};
  for (const Cells &line : lines)
    for (std::size_t i = 0; i < kColumns; ++i)
      widths[i] = std::max(widths[i], line[i].size());
  std::size_t others = 2 * kColumns;
  for (std::size_t i = 1; i < kColumns; ++i)
    others += widths[i];
  const std::size_t room =
      options.width > others + kNarrowestName ? options.width - others : kNarrowestName;
  widths[0] = std::min(widths[0], room);
  std::string text;
  for (const Cells &line : lines) {
    std::string one;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const std::string cell = shorten(line[i], widths[i]);
      const std::string padding(widths[i] - cell.size(), ' ');
      one += "  " + (i >= 1 && i <= 3 ? padding + cell : cell + padding);
    }
    text += one.substr(0, one.find_last_not_of(' ') + 1) + "\n";
  }
  return text + rest;
}

std::string counted(std::uint64_t count, const std::string &word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "es");
}

std::string render_notes(const std::vector<ProcessFolder> &processes) {
  std::map<std::pair<std::string, std::string>, std::uint64_t> skipped;
  std::set<std::string> stopped;
  for (const ProcessFolder &process : processes) {
    for (const auto &[what, why, count] : process.process.skipped)
      skipped[{what, why}] += count;
    if (!process.process.stopped.empty())
      stopped.insert(process.process.stopped);
  }
  std::string text;
  for (const std::string &reason : stopped)
    text += "Recording ended before the program did: " + reason + ".\n";
  for (const auto &[key, count] : skipped)
    text +=
        "Not recorded: " + key.first + " (" + std::to_string(count) + "): " + key.second + ".\n";
  return text;
}

std::string why_nothing(const std::vector<ProcessFolder> &processes, bool has_driver) {
  if (processes.empty())
    return has_driver
               ? "Nothing was recorded: NVIDIA's driver did not load the capture library. Either "
                 "the program made no CUDA call, or it clears its environment or runs as another "
                 "user.\n"
               : "Nothing was recorded: there is no NVIDIA driver on this machine (libcuda.so.1 "
                 "cannot be opened). Capture the program on a machine with a GPU.\n";
  std::set<std::string> stopped;
  for (const ProcessFolder &process : processes)
    if (!process.process.stopped.empty())
      stopped.insert(process.process.stopped);
  if (!stopped.empty())
    return "Nothing was recorded: " + joined(stopped, "; ") + ".\n";
  return "Nothing was recorded: the program used CUDA, but launched no kernel and copied "
         "nothing.\n";
}

} // namespace

std::string render_capture(const std::vector<ProcessFolder> &processes, bool has_driver,
                           const CaptureTableOptions &options) {
  std::vector<Row> rows = rows_of(processes);
  if (rows.empty())
    return why_nothing(processes, has_driver);
  double gpu_ns = 0;
  for (const ProcessFolder &process : processes)
    gpu_ns += process.process.totals.gpu_ns;
  std::string text = render_rows(std::move(rows), gpu_ns, options);
  text += gpu_ns > 0 ? "GPU time " + model::time_text(gpu_ns) : "no GPU times";
  return text + " in " + counted(processes.size(), "process") + "\n" + render_notes(processes);
}

std::string render_list(const std::vector<StoredCapture> &captures) {
  if (captures.empty())
    return "There are no captures.\n";
  std::string text;
  for (const StoredCapture &one : captures)
    text += one.name + "  " + counted(one.processes, "process") + ", " +
            std::to_string(one.launches) + (one.launches == 1 ? " launch, " : " launches, ") +
            printed("%.1f MB", static_cast<double>(one.size_bytes) / 1e6) + "  " +
            joined(one.run.command, " ") + "\n";
  return text;
}

} // namespace warpwright::cli
