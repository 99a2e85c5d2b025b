// Inlay hints: resources of launched kernels that were measured, and accesses that are not
// coalesced.
#include "server/features/features.h"

namespace warpwright::server::features {

namespace {

/// Compile report of the current code: that of the applied variant, else that of the reference in a
/// current measurement.
const model::CompileReport *report_of(const KernelStatus &status) {
  const std::vector<model::CompileReport> *reports =
      status.applied            ? &status.applied->verdict.kernels
      : !status.current.empty() ? &status.current.front()->verdict.reference_kernels
                                : nullptr;
  return reports && !reports->empty() ? &reports->front() : nullptr;
}

std::string launch_label(const model::CompileReport &report) {
  std::string label;
  if (report.registers)
    label = std::to_string(*report.registers) + " regs";
  if (report.occupancy)
    label += (label.empty() ? "" : ", ") +
             std::to_string(static_cast<int>(*report.occupancy * 100 + 0.5)) + "% occupancy";
  return label;
}

std::string access_label(const analysis::Access &access) {
  if (access.space != analysis::MemorySpace::Global)
    return access.bank_conflict_ways > 1
               ? std::to_string(access.bank_conflict_ways) + "-way conflict"
               : "";
  if (access.pattern == analysis::AccessPattern::Strided)
    return "stride " +
           (access.stride ? std::to_string(*access.stride) : access.index.symbolic_stride);
  return access.pattern == analysis::AccessPattern::Irregular ? "irregular" : "";
}

} // namespace

std::vector<protocol::InlayHint> inlay_hints(const Context &context, protocol::Range range) {
  const Snapshot &snapshot = context.snapshot;
  const Range asked = snapshot.positions.bytes(range);
  std::vector<protocol::InlayHint> hints;
  const auto add = [&](Range at, const std::string &label, const std::string &tooltip) {
    if (!label.empty() && asked.begin <= at.end && at.end <= asked.end)
      hints.push_back({snapshot.positions.position(at.end), label, tooltip, true});
  };
  for (const analysis::Launch &launch : snapshot.facts.launches)
    if (const analysis::Kernel *kernel = snapshot.find_kernel(launch.kernel))
      if (const KernelStatus status = context.status(*kernel);
          const auto *report = report_of(status))
        add(launch.range, launch_label(*report),
            "Compiled for the device that measured " + kernel->name);
  for (const analysis::Kernel &kernel : snapshot.facts.kernels)
    for (const analysis::Access &access : kernel.accesses)
      add(access.range, access_label(access),
          "How the threads of a warp touch " + access.buffer + "[" + access.index.text + "]");
  return hints;
}

} // namespace warpwright::server::features
