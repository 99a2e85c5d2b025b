#include "server/optimize/kernel_report.h"

#include "server/measured_text.h"
#include "support/model/json.h"
#include "support/text.h"
#include "support/words.h"

namespace warpwright::server {
namespace {

std::optional<std::int64_t> evaluated(const std::optional<symbolic::Expression> &expression,
                                      const symbolic::Sizes &sizes) {
  const auto value = expression ? expression->evaluate(sizes) : fail("not known");
  return value ? std::optional(*value) : std::nullopt;
}

void describe_task(const model::Task &task, cli::KernelReport &report) {
  report.sizes = task.module ? shapes_text(task) : joined(task.sizes, ", ", [](const auto &size) {
    return size.first + "=" + std::to_string(size.second);
  });
  report.task_hash = model::hash(task);
  report.work_bytes = evaluated(task.work.bytes, task.sizes);
  report.work_flops = evaluated(task.work.flops, task.sizes);
}

/// "1.80x [1.78, 1.83] against eager+graph (12.3 us against 6.8 us, device time)"
std::vector<std::string> baseline_lines(const model::Verdict &verdict) {
  std::vector<std::string> lines;
  for (const BaselineRatio &baseline : measured_baselines(verdict))
    lines.push_back(speedup_text(baseline.speedup) + " against " + baseline.name + " (" +
                    model::time_text(baseline.reference_time.median_ns) + " against " +
                    model::time_text(baseline.candidate_time.median_ns) +
                    (baseline.name.ends_with("+graph") ? ", device time)" : ", as called)"));
  for (const model::Baseline &baseline : verdict.baselines)
    if (!baseline.speedup && !baseline.missing.empty())
      lines.push_back("not measured against " + baseline.name + ": " + baseline.missing);
  if (const std::string library = library_text(verdict); !library.empty())
    lines.push_back(library);
  return lines;
}

} // namespace

cli::KernelReport kernel_report(const analysis::Kernel &kernel, const std::string &path,
                                const std::vector<const runner::LedgerEntry *> &tried,
                                const runner::LedgerEntry *best) {
  cli::KernelReport report;
  report.file = path;
  report.name = kernel.name;
  report.line = kernel.line;
  report.assumptions = kernel.task.assumptions;
  if (kernel.task.inferred && !kernel.task.task.module)
    describe_task(kernel.task.task, report);
  for (const runner::LedgerEntry *entry : tried) {
    describe_task(entry->task, report);
    if (entry == best)
      report.best = report.variants.size();
    const std::string &not_applicable = entry->proposed.not_applicable;
    report.variants.push_back({entry->plan.moves, entry->verdict, entry->proposed.by,
                               not_applicable, not_applicable.empty() ? "" : entry->plan.source});
  }
  if (report.best && best->task.module)
    report.baselines = baseline_lines(best->verdict);
  return report;
}

Result<VariantTexts> add_diff(const Snapshot &snapshot, const runner::LedgerEntry &entry,
                              const VariantForm &form, cli::KernelReport &report) {
  const std::string &before = *snapshot.text;
  const VariantEdits edits = TRY(variant_edits(snapshot.facts.path, before, entry, form));
  VariantTexts changed{TRY(apply_edits(before, edits.edits)), {}};
  const std::string name = (report.file.starts_with('/') ? "" : "/") + report.file;
  report.diff = unified_diff(before, changed.text, "a" + name, "b" + name);
  if (const auto &includer = edits.includer) {
    changed.includer = ChangedFile{includer->path, includer->text, TRY(apply_edits(includer->text, includer->edits))};
    report.diff += unified_diff(includer->text, changed.includer->after, "a" + includer->path, "b" + includer->path);
  }
  return changed;
}

} // namespace warpwright::server
