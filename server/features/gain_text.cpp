#include "server/features/gain_text.h"

#include "server/ablation.h"
#include "server/measured_text.h"
#include "support/words.h"

#include <cctype>
#include <ostream>

namespace warpwright::server::features {

namespace {

/// With a capital letter.
std::string sentence(std::string text) {
  if (!text.empty())
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string baseline_text(const runner::LedgerEntry &entry, const KernelStatus &status) {
  if (entry.task.module)
    return " than eager in a CUDA graph";
  return &entry == status.best ? " than the code as written" : " than the code that it replaced";
}

/// The variant whose gain is shown: the one to apply, else the applied one; null: none is faster.
const runner::LedgerEntry *shown_entry(const KernelStatus &status) {
  const runner::LedgerEntry *entry = status.best ? status.best : status.applied;
  return status.state != KernelState::Outrun && entry && is_faster(entry->verdict) ? entry : nullptr;
}

void write_first_line(std::ostream &out, const runner::LedgerEntry &entry,
                      const KernelStatus &status) {
  const model::Verdict &verdict = entry.verdict;
  const std::string times = times_text(verdict);
  out << ": **" << faster_text(*verdict.speedup) << "**" << baseline_text(entry, status)
      << (times.empty() ? "" : ", " + times) << " on " << cell(verdict.device.name)
      << printed(" [%.2f, ", verdict.speedup->low) << printed("%.2f], ", verdict.speedup->high)
      << verdict.date.substr(0, 10);
}

} // namespace

std::string cell(std::string text) {
  constexpr std::size_t kMost = 120;
  std::string result;
  for (const char c : text.substr(0, kMost))
    result += c == '|' ? '/' : c == '\n' ? ' ' : c;
  return text.size() > kMost ? result + "..." : result;
}

std::string where_text(const model::Verdict &verdict) {
  return cell(verdict.device.name) + ", " + verdict.date.substr(0, 10);
}

std::string moves_with_contributions(const runner::LedgerEntry &entry, const KernelStatus &status) {
  const auto parts = contributions(entry, status.current);
  if (parts.empty())
    return cell(moves_text(entry.plan.moves));
  return joined(parts, ", ", [](const Contribution &part) {
    return cell(moves_text(part.moves)) + printed(" %.2fx", part.ratio) +
           (part.is_measurable() ? "" : " (no measurable effect)");
  });
}

void write_gain(std::ostream &out, const KernelStatus &status) {
  const runner::LedgerEntry *entry = shown_entry(status);
  if (entry)
    write_first_line(out, *entry, status);
  out << "\n\n";
  if (status.outrun)
    out << "**" << sentence(keep_text(status.outrun->verdict)) << ".**\n\n";
  if (!entry)
    return;
  if (const std::string bound = bound_change_text(entry->verdict); !bound.empty())
    out << bound << ". ";
  out << "Moves: " << moves_with_contributions(*entry, status) << ".\n\n";
}

} // namespace warpwright::server::features
