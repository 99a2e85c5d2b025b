#include "server/features/proposed_text.h"

#include <algorithm>
#include <sstream>

namespace warpwright::server::features {
namespace {

/// Source without #line directives, cut after a number of lines.
std::string shown_source(const std::string &source) {
  constexpr int kMostLines = 200;
  std::istringstream lines(source);
  std::string text, line;
  for (int count = 0; count < kMostLines && std::getline(lines, line);)
    if (!line.starts_with("#line")) {
      text += line + "\n";
      ++count;
    }
  return lines ? text + "// ... the whole of it is in the ledger\n" : text;
}

std::string gain_text(const model::Verdict &verdict) {
  return verdict.speedup ? speedup_on_device(*verdict.speedup) : "correct, speed not measured";
}

} // namespace

std::string analysis_text(const KernelStatus &status) {
  for (const runner::LedgerEntry *entry : status.current)
    if (!entry->proposed.analysis.empty())
      return "**Analysis** (" + entry->proposed.by + " policy): " + entry->proposed.analysis;
  return {};
}

std::string analysis_sentence(const KernelStatus &status) {
  const std::string text = analysis_text(status);
  const std::size_t end = std::min(text.find(". "), text.find('\n'));
  return end >= text.size() ? text : text.substr(0, end) + ".";
}

void write_not_applicable(std::ostream &out, const KernelStatus &status) {
  for (const runner::LedgerEntry *entry : status.not_applicable)
    out << "\nVerified but not to be applied: " << moves_text(entry->plan.moves) << ", "
        << gain_text(entry->verdict) << ": " << entry->proposed.not_applicable << ".\n";
}

void write_proposed_source(std::ostream &out, const KernelStatus &status) {
  if (!status.not_applicable.empty())
    out << "\n```cuda\n" << shown_source(status.not_applicable.front()->plan.source) << "```\n";
}

} // namespace warpwright::server::features
