#include "trainer/endpoint/measured_text.h"

#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kLogBytes = 3000; ///< of all compilers' lines in one message

std::string rates_text(const std::optional<model::Evidence> &evidence) {
  std::string text;
  if (evidence && evidence->memory_share)
    text += printed("%.0f%% of the device's copy rate. ", 100 * *evidence->memory_share);
  if (evidence && evidence->compute_share)
    text += printed("%.0f%% of its arithmetic rate. ", 100 * *evidence->compute_share);
  return text;
}

std::string compiler_text(const model::Verdict &verdict) {
  std::string lines;
  for (const model::CompileReport &report : verdict.kernels)
    if (!report.log.empty())
      lines += report.log + (report.log.ends_with('\n') ? "" : "\n");
  if (lines.empty())
    return "";
  const bool is_cut = lines.size() > kLogBytes;
  return "The compiler says:\n" + fenced("", lines.substr(0, kLogBytes)) + (is_cut ? "(cut)\n" : "");
}

std::string counters_text(const model::Verdict &verdict) {
  if (!verdict.counters || !verdict.counters->candidate)
    return "";
  std::string text;
  for (const auto &[name, value] : verdict.counters->candidate->values)
    text += (text.empty() ? "Hardware counters: " : ", ") + name + " " + printed("%.4g", value);
  return text.empty() ? "" : text + ". ";
}

constexpr const char *kGoOn = "\nWrite a version that is better, in the same form.\n";

} // namespace

std::string facts_text(const Measured &measured) {
  std::string text;
  if (measured.candidate_time)
    text += printed("%.2f", measured.candidate_time->median_ns / 1000) + " us. ";
  if (measured.registers)
    text += std::to_string(*measured.registers) + " registers a thread. ";
  if (measured.shared_bytes && *measured.shared_bytes)
    text += std::to_string(*measured.shared_bytes) + " bytes of shared memory a block. ";
  if (measured.spill_bytes && *measured.spill_bytes)
    text += std::to_string(*measured.spill_bytes) + " bytes spilled. ";
  if (measured.occupancy)
    text += "Occupancy " + printed("%.0f", 100 * *measured.occupancy) + "%. ";
  if (measured.bound)
    text += "Held back by " + std::string(name(*measured.bound)) + ". ";
  return text;
}

std::string score_text(const Measured &measured) {
  if (measured.outcome != model::Outcome::Verified)
    return "failed: " + std::string(name(measured.outcome)) +
           (measured.message.empty() ? "" : " (" + measured.message + ")");
  if (!measured.speedup)
    return "correct, not timed";
  return "speedup " + printed("%.3f", measured.speedup->ratio) + " over the reference (95% interval " +
         printed("%.3f", measured.speedup->low) + " to " + printed("%.3f", measured.speedup->high) + ")";
}

std::string feedback_text(const model::Verdict &verdict) {
  const Measured measured = cut_down(verdict, 0);
  std::string text = "Your last answer: " + score_text(measured) + "\n";
  const auto failed = std::ranges::find_if(verdict.checks, [](const auto &check) { return !check.passed; });
  if (verdict.outcome != model::Outcome::Verified && failed != verdict.checks.end())
    text += "First failed check: " + failed->name + (failed->detail.empty() ? "" : ": " + failed->detail) + "\n";
  text += compiler_text(verdict) + facts_text(measured) + rates_text(verdict.candidate_evidence) +
          counters_text(verdict);
  if (measured.reference_time)
    text += "The reference takes " + printed("%.2f us.", measured.reference_time->median_ns / 1000);
  return text + kGoOn;
}

std::string feedback_text(const Measured &measured) {
  return "Your last answer: " + score_text(measured) + "\n" + facts_text(measured) + kGoOn;
}

std::string refusal_text(const std::string &reason) {
  return "Your last answer could not be used: " + reason + "\n" + kGoOn;
}

std::string fenced(const std::string &language, const std::string &text) {
  std::size_t longest = 2, run = 0;
  for (const char c : text)
    longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  return fence + language + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n";
}

} // namespace warpwright::trainer
