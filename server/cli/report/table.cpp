// Report on one kernel for a terminal: heading, table of variants, diff of the best one, next step.
#include "server/cli/report/report.h"
#include "support/words.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace warpwright::cli {
namespace {

constexpr std::size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;
constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowestMoves = 16;
constexpr std::size_t kMostDiffLines = 80;

struct Paint {
  bool on = false;
  std::string operator()(const char *code, const std::string &text) const {
    return on ? std::string("\x1b[") + code + "m" + text + "\x1b[0m" : text;
  }
};

std::string shorten(const std::string &text, std::size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 3) + "...";
}

Row row_of(const ReportVariant &variant) {
  const model::Verdict &verdict = variant.verdict;
  return {moves_text(variant.moves),
          outcome_text(verdict),
          error_text(shown_error(verdict.errors)),
          verdict.candidate_time ? time_text(verdict.candidate_time->median_ns) : "-",
          verdict.speedup ? speedup_text(*verdict.speedup) : "-",
          verdict.device.name.empty() ? "-" : verdict.device.name};
}

const char *color_of(const ReportVariant &variant, bool is_best) {
  if (is_best)
    return "1;32";
  return variant.verdict.outcome == model::Outcome::Verified ? "0" : "2";
}

/// A list of moves in lines: the first as wide as its column, the others as the table.
std::vector<std::string> wrapped(const std::string &moves, std::size_t column, std::size_t table) {
  const auto end_of_move = [&](std::size_t from) {
    return std::min(moves.find(" + ", from + 1), moves.size());
  };
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < moves.size();) {
    const std::size_t width = begin == 0 ? column : table;
    std::size_t end = end_of_move(begin);
    while (end < moves.size() && end_of_move(end) - begin <= width)
      end = end_of_move(end);
    lines.push_back(shorten(moves.substr(begin, end - begin), width));
    begin = end;
  }
  return lines;
}

/// A row of the table. Moves that need more lines go on below.
std::string lines_of(const Row &row, const std::array<std::size_t, kColumns> &widths) {
  const std::vector<std::string> moves = wrapped(
      row[0], widths[0], std::accumulate(widths.begin(), widths.end(), kGap * (kColumns - 1)));
  std::string text;
  for (std::size_t column = 0; column < kColumns; ++column) {
    const std::string cell = column == 0 ? moves.front() : shorten(row[column], widths[column]);
    text += "  " + cell;
    if (column + 1 < kColumns)
      text += std::string(widths[column] - cell.size(), ' ');
  }
  for (std::size_t i = 1; i < moves.size(); ++i)
    text += "\n " + moves[i]; // it begins with " + "
  return text;
}

std::array<std::size_t, kColumns> fit(const std::vector<Row> &rows, std::size_t width) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row &row : rows)
    for (std::size_t column = 0; column < kColumns; ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::size_t others = kGap * kColumns;
  for (std::size_t column = 1; column < kColumns; ++column)
    others += widths[column];
  const std::size_t room = width > others + kNarrowestMoves ? width - others : kNarrowestMoves;
  widths[0] = std::min(widths[0], room);
  return widths;
}

std::string summary_of_hidden(const KernelReport &kernel, const std::vector<std::size_t> &hidden) {
  std::map<std::string, int> counts;
  for (std::size_t index : hidden)
    ++counts[outcome_text(kernel.variants[index].verdict.outcome)];
  const std::string text = joined(
      counts, ", ", [](const auto &one) { return std::to_string(one.second) + " " + one.first; });
  return "  and " + std::to_string(hidden.size()) + " more (" + text +
         "); --json and --html list all\n";
}

std::string render_table(const KernelReport &kernel, const TableOptions &options) {
  const Paint paint{options.color};
  std::vector<std::size_t> order = reading_order(kernel), hidden;
  if (order.size() > options.max_rows) {
    hidden.assign(order.begin() + options.max_rows, order.end());
    order.resize(options.max_rows);
  }
  std::vector<Row> rows{{"moves", "outcome", "error", "time", "speedup", "device"}};
  for (std::size_t index : order)
    rows.push_back(row_of(kernel.variants[index]));
  const auto widths = fit(rows, options.width);
  std::string text = paint("1", lines_of(rows[0], widths)) + "\n";
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool is_best = kernel.best == order[i];
    text +=
        paint(color_of(kernel.variants[order[i]], is_best), lines_of(rows[i + 1], widths)) + "\n";
  }
  return hidden.empty() ? text : text + summary_of_hidden(kernel, hidden);
}

std::string render_diff(const std::string &diff, const Paint &paint) {
  std::string text;
  std::size_t lines = 0;
  for (std::size_t begin = 0; begin < diff.size();) {
    if (lines++ == kMostDiffLines)
      return text + "... and " +
             std::to_string(
                 std::count(diff.begin() + static_cast<std::ptrdiff_t>(begin), diff.end(), '\n')) +
             " lines more; --json and --html have all\n";
    const std::size_t end = std::min(diff.find('\n', begin), diff.size());
    const std::string line = diff.substr(begin, end - begin);
    const bool is_header = line.starts_with("---") || line.starts_with("+++");
    const char *code = is_header                ? "1"
                       : line.starts_with("+")  ? "32"
                       : line.starts_with("-")  ? "31"
                       : line.starts_with("@@") ? "36"
                                                : nullptr;
    text += (code ? paint(code, line) : line) + "\n";
    begin = end + 1;
  }
  return text;
}

/// Message of the first variant if no variant of the kernel was verified; else "".
std::string why_none(const KernelReport &kernel) {
  const bool failed = std::ranges::none_of(kernel.variants, [](const ReportVariant &variant) {
    return variant.verdict.outcome == model::Outcome::Verified;
  });
  if (!failed || kernel.variants.empty())
    return {};
  const ReportVariant &first = kernel.variants.front();
  return "Of " + moves_text(first.moves) + ": " + first.verdict.message + "\n";
}

/// Meaning of a result without a GPU, or the reason why there is nothing to apply.
std::string conclusion(const KernelReport &kernel, const Report &report) {
  if (!on_gpu(report))
    return kernel.best ? "Checked on the CPU: this proves that a variant computes the same, not "
                         "that it is faster on a GPU.\n"
                         "No speedup is shown. Run this on a machine with an NVIDIA GPU (or "
                         "--runner URL) to measure.\n"
                       : "No variant could be verified on the CPU.\n" + why_none(kernel);
  if (kernel.best)
    return {};
  if (const std::string why = why_none(kernel); !why.empty())
    return "No variant could be verified.\n" + why;
  return kernel.variants.empty()
             ? "No move is legal for this kernel: nothing was tried.\n"
             : "No variant is faster than the original with confidence: leave it as it is.\n";
}

std::string next_step(const KernelReport &kernel, const Report &report) {
  if (kernel.apply)
    return kernel.apply->message + "\n";
  if (!kernel.best)
    return {};
  return std::string("Apply it: warpwright optimize ") + kernel.file + " --kernel " + kernel.name +
         (on_gpu(report) ? " --apply\n" : " --apply=checked\n");
}

std::string render_error(const KernelReport &kernel, const Paint &paint) {
  std::string text = paint("31", "  " + describe(*kernel.error)) + "\n";
  for (const auto &[name, question] : kernel.missing)
    text += "  - " + name + ": " + question + "\n";
  if (!kernel.comment.empty())
    text +=
        "Insert this above the kernel and fill in what is left open:\n\n" + kernel.comment + "\n";
  return text;
}

/// Verified variants that --apply cannot write, with their speedups and reasons.
std::string not_applicable_text(const KernelReport &kernel) {
  std::string text;
  for (const ReportVariant &variant : kernel.variants)
    if (!variant.not_applicable.empty() && variant.verdict.outcome == model::Outcome::Verified)
      text += "  cannot be applied: " + moves_text(variant.moves) +
              (variant.verdict.speedup ? " (" + speedup_text(*variant.verdict.speedup) + ")" : "") +
              ": " + variant.not_applicable + ". Its source is in --json.\n";
  return text;
}

} // namespace

std::string render_text(const KernelReport &kernel, const Report &report,
                        const TableOptions &options) {
  const Paint paint{options.color};
  std::string text =
      paint("1", kernel.name) + "  " + kernel.file + ":" + std::to_string(kernel.line);
  if (!kernel.sizes.empty())
    text += "  (" + kernel.sizes + ")";
  text += "\n";
  for (const std::string &assumption : kernel.assumptions)
    text += paint("2", "  assumed: " + assumption) + "\n";
  if (kernel.error)
    text += render_error(kernel, paint);
  if (const model::Time *time = reference_time(kernel))
    text += "  original: " + time_text(time->median_ns) + "\n";
  if (!kernel.variants.empty())
    text += "\n" + render_table(kernel, options);
  if (!kernel.policy.empty() && kernel.policy != "search")
    text += "  proposed by: " + kernel.policy + "\n";
  if (!kernel.analysis.empty())
    text += "  its analysis: " + kernel.analysis + "\n";
  text += not_applicable_text(kernel);
  for (const std::string &line : kernel.baselines)
    text += "  " + line + "\n";
  if (!kernel.diff.empty())
    text += "\n" + render_diff(kernel.diff, paint);
  if (!kernel.error)
    text += "\n" + conclusion(kernel, report);
  return text + next_step(kernel, report) + "\n";
}

} // namespace warpwright::cli
