// Hover of a kernel: measured results, or before a measurement the known and the missing facts.
//
// clangd shows the declaration, so this hover leaves it out.
#include "server/features/features.h"

#include "server/features/gain_text.h"
#include "server/features/proposed_text.h"
#include "server/measured_text.h"
#include "support/hash.h"
#include "support/words.h"

#include <algorithm>
#include <sstream>

namespace warpwright::server::features {

namespace {

constexpr std::size_t kMaxVariants = 5;
constexpr std::size_t kMaxAccesses = 8;

using Entries = std::vector<const runner::LedgerEntry *>;

/// Order: verified first, then the fastest, then the newest.
void sort_for_reading(Entries &entries) {
  const auto rank = [](const runner::LedgerEntry *entry) {
    const model::Verdict &verdict = entry->verdict;
    return std::pair(verdict.outcome == model::Outcome::Verified,
                     verdict.speedup ? verdict.speedup->ratio : 0.0);
  };
  std::sort(entries.begin(), entries.end(), [&](const auto *a, const auto *b) {
    return rank(a) == rank(b) ? a < b : rank(a) > rank(b);
  });
}

/// "`tile(rows=4)`: verified, 79.9 us, 6.23x [6.20, 6.25]"
std::string variant_line(const runner::LedgerEntry &entry) {
  const model::Verdict &verdict = entry.verdict;
  std::string line = "`" + cell(moves_text(entry.plan.moves)) + "`: " + outcome_text(verdict);
  if (verdict.candidate_time)
    line += ", " + model::time_text(verdict.candidate_time->median_ns);
  return verdict.speedup ? line + ", " + speedup_text(*verdict.speedup) : line;
}

/// The best variants, one a line. A device and date that all have in common stand in one line below.
void write_variants(std::ostream &out, Entries entries) {
  sort_for_reading(entries);
  const std::string where = where_text(entries.front()->verdict);
  const bool is_one_place = std::ranges::all_of(
      entries, [&](const auto *entry) { return where_text(entry->verdict) == where; });
  const bool has_times = std::ranges::any_of(
      entries, [](const auto *entry) { return entry->verdict.candidate_time.has_value(); });
  const std::size_t found = entries.size();
  entries.resize(std::min(found, kMaxVariants));
  for (const runner::LedgerEntry *entry : entries)
    out << "- " << variant_line(*entry) << (is_one_place ? "" : ", " + where_text(entry->verdict))
        << "\n";
  if (found > entries.size())
    out << "- " << found - entries.size() << " more in the kernel's page\n";
  if (is_one_place)
    out << "\n" << (has_times ? "Measured on " : "Tried on ") << where << ".\n";
}

/// "32 registers, no spills, 4096 bytes shared, occupancy 75%"; unknown values are left out.
std::string resources_text(const model::CompileReport &report) {
  std::vector<std::string> parts;
  if (report.registers)
    parts.push_back(std::to_string(*report.registers) + " registers");
  if (report.spill_store_bytes && report.spill_load_bytes) {
    const auto spills = *report.spill_store_bytes + *report.spill_load_bytes;
    parts.push_back(spills ? std::to_string(spills) + " bytes spilled" : "no spills");
  }
  if (report.static_shared_bytes.value_or(0) > 0)
    parts.push_back(std::to_string(*report.static_shared_bytes) + " bytes shared");
  if (report.occupancy)
    parts.push_back("occupancy " + std::to_string(static_cast<int>(*report.occupancy * 100 + 0.5)) +
                    "%");
  return joined(parts, ", ");
}

void write_resources(std::ostream &out, const KernelStatus &status) {
  const auto line = [&](const char *what, const std::vector<model::CompileReport> &reports) {
    if (const std::string text = reports.empty() ? "" : resources_text(reports.front());
        !text.empty())
      out << "\n" << what << ": " << text << "\n";
  };
  if (!status.current.empty())
    line("As written", status.current.front()->verdict.reference_kernels);
  if (status.best)
    line("Best variant", status.best->verdict.kernels);
  if (status.applied)
    line("As written", status.applied->verdict.kernels);
}

std::string pattern_text(const analysis::Access &access) {
  switch (access.pattern) {
  case analysis::AccessPattern::Coalesced:
    return "coalesced";
  case analysis::AccessPattern::Broadcast:
    return "broadcast";
  case analysis::AccessPattern::Strided:
    return "stride " +
           (access.stride ? std::to_string(*access.stride) : access.index.symbolic_stride);
  case analysis::AccessPattern::Irregular:
    return "irregular";
  }
  return "unknown";
}

void write_accesses(std::ostream &out, const analysis::Kernel &kernel) {
  std::vector<std::string> lines;
  for (const analysis::Access &access : kernel.accesses) {
    if (access.space != analysis::MemorySpace::Global)
      continue;
    const std::string line = std::string("- ") + (access.is_write ? "writes" : "reads") + " `" +
                             access.buffer + "[" + access.index.text +
                             "]`: " + pattern_text(access);
    if (std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(line);
  }
  for (std::size_t i = 0; i < std::min(lines.size(), kMaxAccesses); ++i)
    out << lines[i] << "\n";
  if (lines.size() > kMaxAccesses)
    out << "- and " << lines.size() - kMaxAccesses << " more\n";
}

void write_unmeasured(std::ostream &out, const analysis::Kernel &kernel) {
  out << (kernel.task.inferred ? "Not measured.\n" : "Not measured: facts are missing.\n");
  if (const auto &module = kernel.task.task.module; module && kernel.task.inferred)
    out << "\nCalled with `" << module->inputs << "`"
        << (module->language == "cpp" && !kernel.forward
                ? ""
                : ", made with `" + module->init_inputs + "`")
        << ".\n";
  if (kernel.pattern)
    out << "Recognized as " << *kernel.pattern << ".\n";
  out << "\n";
  write_accesses(out, kernel);
  if (kernel.task.missing.empty())
    return;
  out << "\nMissing:\n";
  for (const analysis::MissingFact &fact : kernel.task.missing)
    out << "- `" << fact.name << "`: " << fact.question << "\n";
}

/// Writes the assumptions of a run that the program does not state.
void write_assumptions(std::ostream &out, const analysis::Kernel &kernel) {
  if (!kernel.task.inferred || kernel.task.assumptions.empty())
    return;
  out << "\nAssumed:\n";
  for (const std::string &assumption : kernel.task.assumptions)
    out << "- " << assumption << "\n";
}

/// "0.71x [0.66, 0.76] torch.compile in a CUDA graph, 1.50x [1.45, 1.55] eager as called"
std::string strongest_text(const model::Verdict &verdict) {
  return joined(strongest_baselines(verdict), ", ", [](const BaselineRatio &one) {
    return speedup_text(one.speedup) + " " + form_of(one) + " " + regime_text(one);
  });
}

/// Writes the shapes, baselines and bounds of a torch module.
void write_module(std::ostream &out, const KernelStatus &status) {
  const runner::LedgerEntry *shown = status.best      ? status.best
                                     : status.applied ? status.applied
                                     : status.outrun  ? status.outrun
                                                      : nullptr;
  const runner::LedgerEntry &any = shown ? *shown : status.entries->front();
  out << "\n`" << shapes_text(any.task) << "`\n";
  if (!shown)
    return;
  const model::Verdict &verdict = shown->verdict;
  const bool is_applied = shown == status.applied && !status.best;
  if (const std::string table = baseline_table(verdict); !table.empty())
    out << (is_applied ? "\nAs it is now"
                       : "\nThe best of them (" + cell(moves_text(shown->plan.moves)) + ")")
        << " against PyTorch's fastest: " << strongest_text(verdict) << ".\n\n"
        << table;
  if (const std::string bound = bound_text(verdict); !bound.empty())
    out << "\nBound by " << bound << ".\n";
  if (const std::string library = library_text(verdict); !library.empty())
    out << "\n" << library << "\n";
}

void write_measured(std::ostream &out, const KernelStatus &status) {
  if (const std::string analysis = analysis_sentence(status); !analysis.empty())
    out << analysis << "\n\n";
  if (status.applied) {
    out << "The code is a verified variant (" << moves_text(status.applied->plan.moves) << "): "
        << (status.applied->verdict.speedup
                ? speedup_text(*status.applied->verdict.speedup) + " against what it replaced"
                : std::string("correct, speed not measured"))
        << ".\n\n";
  }
  if (status.current.empty() && !status.applied)
    out << "**Stale**: the code changed since these were measured.\n\n";
  write_variants(out, status.current.empty() ? status.stale : status.current);
  write_not_applicable(out, status);
  if (status.entries->front().task.module)
    write_module(out, status);
  write_resources(out, status);
  const runner::LedgerEntry *newest =
      status.current.empty() ? status.entries->data() : status.current.front();
  if (!newest->verdict.measured_sizes.empty())
    out << "\nSizes: " << newest->verdict.measured_sizes << "\n";
  if (std::none_of(status.entries->begin(), status.entries->end(),
                   [](const auto &entry) { return entry.verdict.speedup.has_value(); }))
    out << "\nNo GPU measured these: outcomes prove correctness, not speed.\n";
}

std::string counted(int count, const std::string &noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Writes the report of warpwright.optimize() about the class.
void write_report(std::ostream &out, const regions::ModelReport &report, const std::string &text) {
  out << "\n`warpwright.optimize` (mode " << cell(report.mode)
      << "): " << counted(report.graphs, "graph") << ", " << counted(report.breaks, "graph break")
      << ", " << report.covered << " of " << counted(report.operators, "operator")
      << " in regions, " << counted(report.plans, "plan") << " used";
  for (const regions::GraphGain &gain : report.gains)
    out << ", "
        << speedup_text(model::Speedup{.ratio = gain.ratio, .low = gain.low, .high = gain.high})
        << " of torch.compile for a graph as called";
  out << ". " << cell(report.device) << ", " << cell(report.date).substr(0, 10)
      << (report.file_hash == sha256_hex(text) ? "" : "; **stale**: the file changed since")
      << ".\n";
}

} // namespace

std::optional<protocol::Hover> hover(const Context &context, protocol::Position position,
                                     const std::optional<regions::ModelReport> &report) {
  const Snapshot::Hit hit = context.snapshot.hit(context.snapshot.positions.offset(position));
  if (!hit.kernel || !hit.on_name)
    return std::nullopt;
  const KernelStatus status = context.status(*hit.kernel);
  std::ostringstream out;
  out << "**Warpwright** `" << hit.kernel->name << "`";
  write_gain(out, status);
  if (status.entries->empty())
    write_unmeasured(out, *hit.kernel);
  else
    write_measured(out, status);
  write_assumptions(out, *hit.kernel);
  if (hit.kernel->captured)
    out << "\n" << captured_text(*hit.kernel->captured) << ".\n";
  if (report && report->class_name == hit.kernel->name)
    write_report(out, *report, *context.snapshot.text);
  return protocol::Hover{{context.client.hover_markdown ? "markdown" : "plaintext", out.str()},
                         context.snapshot.positions.range(hit.range)};
}

} // namespace warpwright::server::features
