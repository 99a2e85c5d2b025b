// Report page of kernels measured from an editor: the page of `warpwright optimize --html`, from
// the ledger's entries of the current code.
//
// The page shows verdicts of one device only, because readers would compare the times of two
// devices. A GPU goes before the CPU backend.
#include "server/cli/report/svg.h"
#include "server/optimize/kernel_report.h"
#include "support/version.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::server {

namespace {

std::optional<model::DeviceInfo> device_of(const std::vector<ReportedKernel> &kernels) {
  std::optional<model::DeviceInfo> device;
  for (const ReportedKernel &kernel : kernels)
    for (const runner::LedgerEntry *entry : kernel.status.current)
      if (!device || (device->kind != "cuda" && entry->verdict.device.kind == "cuda"))
        device = entry->verdict.device;
  return device;
}

/// Without the diff, which needs an analysis of the text.
cli::KernelReport measurements_of(const ReportedKernel &reported, const std::string &device) {
  std::vector<const runner::LedgerEntry *> tried; // newest first
  for (const runner::LedgerEntry *entry : reported.status.current)
    if (entry->verdict.device.name == device)
      tried.push_back(entry);
  std::ranges::reverse(tried);
  return kernel_report(*reported.snapshot->find_kernel(reported.kernel),
                       reported.snapshot->facts.path, tried, reported.status.best);
}

cli::KernelReport report_of(const ReportedKernel &reported, const std::string &device) {
  cli::KernelReport report = measurements_of(reported, device);
  if (report.best) // no diff if the text no longer leads to the variant
    (void)add_diff(*reported.snapshot, *reported.status.best, {}, report);
  return report;
}

} // namespace

std::string roofline_of(const ReportedKernel &kernel) {
  const auto device = device_of({kernel});
  return device ? cli::roofline_plot(measurements_of(kernel, device->name), *device) : "";
}

std::string report_page(const std::vector<ReportedKernel> &kernels) {
  cli::Report report;
  report.version = version();
  report.command = "an editor";
  report.date = utc_now();
  report.device = device_of(kernels);
  for (const ReportedKernel &kernel : kernels) {
    cli::KernelReport found = report_of(kernel, report.device ? report.device->name : "");
    if (!found.variants.empty())
      report.kernels.push_back(std::move(found));
  }
  return cli::render_html(report);
}

} // namespace warpwright::server
