// Markdown for the comment of a pull request. The first line is a mark by which a script finds its
// earlier comment.
#include "server/cli/check/check_result.h"
#include "support/words.h"

namespace warpwright::cli {
namespace {

/// Text in a cell of a table: no line breaks, no bars, and no markup of its own.
std::string cell(const std::string &text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("|\\`*_<>[]#@").contains(c)) // @ would notify people
      escaped += '\\';
    escaped += c == '\n' || c == '\r' ? ' ' : c;
  }
  return escaped;
}

std::string mark_of(CheckState state) {
  return state == CheckState::Fine ? ":white_check_mark:" : state == CheckState::Worse ? ":x:" : ":grey_question:";
}

} // namespace

std::string check_markdown(const CheckResult &result) {
  std::string text = "<!-- warpwright-check -->\n### Warpwright: " +
                     std::string(result.state() == CheckState::Fine    ? "nothing is worse"
                                 : result.state() == CheckState::Worse ? "something is worse"
                                                                       : "not everything could be compared") +
                     "\n\n" + cell(summary_text(result)) + ".";
  if (!result.device.empty())
    text += " Measured on " + cell(result.device) + (result.on_gpu ? "" : ", which times nothing") + ".";
  text += "\n";
  if (!result.kernels.empty() || !result.failures.empty())
    text += "\n| | kernel or module | base -> now | result |\n|---|---|---|---|\n";
  for (const CheckedKernel &kernel : result.kernels)
    text += "| " + mark_of(kernel.state) + " | " + cell(kernel.path) + " **" + cell(kernel.name) + "** | " +
            cell(times_text(kernel)) + " | " + cell(kernel.label) +
            (kernel.message.empty() ? "" : ": " + cell(kernel.message)) +
            (kernel.applied.empty() ? "" : " (" + cell(kernel.applied) + ")") + " |\n";
  for (const auto &[path, error] : result.failures)
    text += "| " + mark_of(CheckState::Unknown) + " | " + cell(path) + " | | not analyzed: " + cell(describe(error)) + " |\n";
  if (!result.diagnostics.empty())
    text += "\n| | new diagnostic | rule | message |\n|---|---|---|---|\n";
  for (const CheckedDiagnostic &found : result.diagnostics)
    text += "| " + (found.fails ? mark_of(CheckState::Worse) : std::string(":information_source:")) + " | " +
            cell(found.path) + ":" + std::to_string(found.line) + " | " + cell(found.rule) +
            " | " + cell(found.message) + " |\n";
  for (const std::string &note : result.notes)
    text += "\nNote: " + cell(note) + ".\n";
  return text;
}

} // namespace warpwright::cli
