// The report page of kernels that an editor measured: the same page as `warpwright optimize --html`, from the ledger's entries of the
// code as it stands.
//
// Verdicts of one device only, a GPU before the CPU backend: times of two devices on one page would be compared. Thread: any.
#include "server/engine.h"

#include "server/cli/report/report.h"
#include "server/cli/sources.h"
#include "server/measured_text.h"
#include "support/model/json.h"

namespace warpwright::server {

namespace {

std::string sizes_text(const Sizes &sizes) {
  std::string text;
  for (const auto &[name, value] : sizes)
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text;
}

std::optional<std::int64_t> evaluated(const std::optional<Expression> &expression,
                                      const Sizes &sizes) {
  if (!expression)
    return std::nullopt;
  const auto value = expression->evaluate(sizes);
  return value ? std::optional(*value) : std::nullopt;
}

std::optional<model::DeviceInfo> device_of(const std::vector<ReportedKernel> &kernels) {
  std::optional<model::DeviceInfo> device;
  for (const ReportedKernel &kernel : kernels)
    for (const runner::LedgerEntry *entry : kernel.status.current)
      if (!device || (device->kind != "cuda" && entry->verdict.device.kind == "cuda"))
        device = entry->verdict.device;
  return device;
}

std::vector<std::string> baseline_lines(const model::Verdict &verdict) {
  std::vector<std::string> lines;
  for (const BaselineRatio &baseline : measured_baselines(verdict))
    lines.push_back(cli::speedup_text(baseline.speedup) + " against " + baseline.name);
  return lines;
}

cli::KernelReport kernel_report(const ReportedKernel &reported, const std::string &device) {
  const analysis::Kernel &kernel = *reported.snapshot->find_kernel(reported.kernel);
  cli::KernelReport report;
  report.file = reported.snapshot->facts.path;
  report.name = kernel.name;
  report.line = kernel.line;
  report.assumptions = kernel.task.assumptions;
  const auto &entries = reported.status.current;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) { // oldest first: as tried
    if ((*entry)->verdict.device.name != device)
      continue;
    const model::Task &task = (*entry)->task;
    report.sizes = task.module ? shapes_text(task) : sizes_text(task.sizes);
    report.task_hash = (*entry)->verdict.task_hash;
    report.work_bytes = evaluated(task.work.bytes, task.sizes);
    report.work_flops = evaluated(task.work.flops, task.sizes);
    if (*entry == reported.status.best)
      report.best = report.variants.size();
    report.variants.push_back({(*entry)->plan.moves, (*entry)->verdict});
  }
  if (!report.best)
    return report;
  const runner::LedgerEntry &best = *reported.status.best;
  report.baselines = baseline_lines(best.verdict);
  const std::string &before = *reported.snapshot->text;
  const auto edits = variant_edits(report.file, before, best, {});
  if (const auto after =
          edits ? apply_edits(before, *edits) : Result<std::string>(std::unexpected(edits.error())))
    report.diff = unified_diff(before, *after, "a" + report.file, "b" + report.file);
  return report;
}

} // namespace

std::string report_page(const std::vector<ReportedKernel> &kernels) {
  cli::Report report;
  report.version = WARPWRIGHT_VERSION;
  report.command = "an editor";
  report.date = cli::utc_date();
  report.device = device_of(kernels);
  for (const ReportedKernel &kernel : kernels) {
    cli::KernelReport found = kernel_report(kernel, report.device ? report.device->name : "");
    if (!found.variants.empty())
      report.kernels.push_back(std::move(found));
  }
  return cli::render_html(report);
}

} // namespace warpwright::server
