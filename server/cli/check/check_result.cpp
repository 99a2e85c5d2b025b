// Judgement of verdicts, the table and the summary.
#include "server/cli/check/check_result.h"
#include "support/model/verdict_text.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::cli {
namespace {

using model::Outcome;

/// Slowdown of the changed code: its time / the base's time.
struct Slowdown {
  double ratio, low, high;
};

std::optional<Slowdown> slowdown_of(const CheckedKernel &kernel) {
  if (!kernel.verdict || !kernel.verdict->speedup)
    return std::nullopt;
  const model::Speedup &speedup = *kernel.verdict->speedup;
  return Slowdown{1 / speedup.ratio, 1 / speedup.high, 1 / speedup.low};
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

void set(CheckedKernel &kernel, CheckState state, std::string label, std::string message = "") {
  kernel.state = state;
  kernel.label = std::move(label);
  kernel.message = std::move(message);
}

void judge_times(CheckedKernel &kernel, double limit) {
  const auto slowdown = slowdown_of(kernel);
  if (!slowdown)
    return set(kernel, CheckState::Unknown, "UNKNOWN",
               kernel.verdict->device.kind == "cpu"
                   ? "the results are right; the CPU backend measures no speed"
                   : "the results are right; the speed was not measured: " + kernel.verdict->message);
  if (slowdown->low > 1 + limit)
    return set(kernel, CheckState::Worse, "SLOWER");
  if (slowdown->high > 1 + limit)
    return set(kernel, CheckState::Unknown, "UNKNOWN",
               "the interval of the ratio contains the limit of " + printed("%.4g%%", limit * 100));
  set(kernel, CheckState::Fine, slowdown->high < 1 ? "FASTER" : "SAME");
}

const char *color_of(CheckState state) {
  return state == CheckState::Fine ? "32" : state == CheckState::Worse ? "31" : "33";
}

std::string kernel_line(const CheckedKernel &kernel, std::size_t place_width, bool color) {
  const std::string place = kernel.path + ":" + std::to_string(kernel.line) + " " + kernel.name;
  const std::string label = color ? std::string("\x1b[") + color_of(kernel.state) + "m" + kernel.label + "\x1b[0m" : kernel.label;
  std::string line = "  " + place + std::string(place_width - place.size() + 2, ' ') + label;
  for (const std::string &part : {times_text(kernel), kernel.message, kernel.applied})
    if (!part.empty())
      line += "  " + part;
  return line + "\n";
}

} // namespace

void judge(CheckedKernel &kernel, double fail_slower, bool results_may_change) {
  const model::Verdict &verdict = *kernel.verdict;
  if (verdict.outcome == Outcome::Verified)
    return judge_times(kernel, fail_slower);
  if (verdict.outcome == Outcome::Unsupported)
    return set(kernel, CheckState::Unknown, "UNKNOWN",
               (model::blames_reference(verdict) ? "the code of the base cannot be run: " : "") + verdict.message);
  const bool is_allowed = results_may_change && verdict.outcome == Outcome::WrongResult;
  set(kernel, is_allowed ? CheckState::Unknown : CheckState::Worse,
      is_allowed ? "OTHER RESULT" : upper(model::outcome_text(verdict.outcome)), verdict.message);
}

std::string times_text(const CheckedKernel &kernel) {
  const auto slowdown = slowdown_of(kernel);
  if (!slowdown || !kernel.verdict->reference_time || !kernel.verdict->candidate_time)
    return "";
  const bool slower = slowdown->ratio > 1;
  const Slowdown shown = slower ? *slowdown : Slowdown{1 / slowdown->ratio, 1 / slowdown->high, 1 / slowdown->low};
  return model::time_text(kernel.verdict->reference_time->median_ns) + " -> " +
         model::time_text(kernel.verdict->candidate_time->median_ns) + ", " + printed("%.2fx", shown.ratio) +
         (slower ? " slower [" : " faster [") + printed("%.2f, ", shown.low) + printed("%.2f]", shown.high);
}

CheckState CheckResult::state() const {
  return count(CheckState::Worse) > 0     ? CheckState::Worse
         : count(CheckState::Unknown) > 0 ? CheckState::Unknown
                                          : CheckState::Fine;
}

std::size_t CheckResult::count(CheckState state) const {
  std::size_t found = static_cast<std::size_t>(std::ranges::count(kernels, state, &CheckedKernel::state));
  if (state == CheckState::Unknown)
    found += failures.size();
  if (state == CheckState::Worse)
    found += static_cast<std::size_t>(std::ranges::count(diagnostics, true, &CheckedDiagnostic::fails));
  return found;
}

std::string summary_text(const CheckResult &result) {
  const std::size_t changed = result.kernels.size();
  std::string text = (changed == 0 ? "No kernel or module" : std::to_string(changed) + (changed == 1 ? " kernel or module" : " kernels and modules")) +
                     " changed since " + result.base.substr(0, 12) + " (" + result.revision + ")";
  text += ": " + std::to_string(result.count(CheckState::Worse)) + " worse, " +
          std::to_string(result.count(CheckState::Unknown)) + " unknown, " +
          std::to_string(result.count(CheckState::Fine)) + " fine; " + std::to_string(result.unchanged) +
          " unchanged in " + std::to_string(result.files) + (result.files == 1 ? " examined file" : " examined files");
  if (result.removed > 0)
    text += ", " + std::to_string(result.removed) + " removed";
  return text;
}

std::string check_table(const CheckResult &result, bool color) {
  std::size_t width = 0;
  for (const CheckedKernel &kernel : result.kernels)
    width = std::max(width, (kernel.path + ":" + std::to_string(kernel.line) + " " + kernel.name).size());
  std::string table;
  for (const CheckedKernel &kernel : result.kernels)
    table += kernel_line(kernel, width, color);
  for (const auto &[path, error] : result.failures)
    table += "  " + path + "  NOT ANALYZED  " + describe(error) + "\n";
  for (const CheckedDiagnostic &found : result.diagnostics)
    table += "  " + found.path + ":" + std::to_string(found.line) + "  new " + found.severity +
             (found.fails ? " (fails)" : "") + " [" + found.rule + "]  " + found.message + "\n";
  for (const std::string &note : result.notes)
    table += "  note: " + note + "\n";
  if (!result.device.empty())
    table += "  measured on: " + result.device + "\n";
  return table + summary_text(result) + "\n";
}

} // namespace warpwright::cli
