// A report as a search on an H200 would leave it: one kernel with a fast, a slow and a wrong
// variant, and one kernel that could not be optimized. Test data only.
#pragma once

#include "server/cli/report/report.h"

#include <utility>

namespace warpwright::cli {

inline ReportVariant sample_variant(std::string move, double reference_ns, double candidate_ns) {
  ReportVariant variant;
  variant.moves = {std::move(move)};
  model::Verdict &verdict = variant.verdict;
  verdict.outcome = model::Outcome::Verified;
  verdict.device = {.kind = "cuda",
                    .name = "NVIDIA H200",
                    .identifier = "GPU-1",
                    .compute_capability = "9.0",
                    .driver = "580.65",
                    .host = "host",
                    .memory_bytes = 1ull << 37,
                    .l2_bytes = 50u << 20,
                    .multiprocessors = 132,
                    .copy_bytes_per_s = 4.1e12,
                    .fp32_flops_per_s = 5.1e13};
  verdict.errors = {1e-6, 2e-6, 3.14e-7, 4e-7};
  verdict.reference_time = model::Time{reference_ns, reference_ns * .99, reference_ns * 1.01, 120};
  verdict.candidate_time = model::Time{candidate_ns, candidate_ns * .99, candidate_ns * 1.01, 120};
  const double ratio = reference_ns / candidate_ns;
  verdict.speedup = model::Speedup{ratio, ratio * .98, ratio * 1.02, 120, "NVIDIA H200"};
  verdict.checks = {{"canaries", true, ""}, {"run twice", true, ""}};
  verdict.kernels = {{"matmul", 64, 8448, 0, 0, 0, 0.5, 31, ""}};
  verdict.measured_sizes = "n=1024";
  verdict.date = "2026-11-20T12:00:00Z";
  verdict.plan_hash = "0123456789abcdef";
  return variant;
}

inline ReportVariant sample_failure(std::string move, model::Outcome outcome, std::string message) {
  ReportVariant variant;
  variant.moves = {std::move(move)};
  variant.verdict.outcome = outcome;
  variant.verdict.message = std::move(message);
  variant.verdict.device.name = "NVIDIA H200";
  return variant;
}

inline KernelReport sample_kernel() {
  KernelReport kernel;
  kernel.file = "examples/matmul.cu";
  kernel.name = "matmul";
  kernel.line = 12;
  kernel.sizes = "n=1024";
  kernel.work_bytes = 3ll * 1024 * 1024 * 4;
  kernel.work_flops = 2ll * 1024 * 1024 * 1024;
  kernel.variants = {
      sample_failure("vectorize(width=4)", model::Outcome::WrongResult, "c[7] is 3 <instead> of 4"),
      sample_variant("block_size(x=32)", 412e3, 397e3),
      sample_variant("template(gemm, tile=64x64x16)", 412e3, 98.2e3)};
  kernel.best = 2;
  kernel.diff = "--- a/matmul.cu\n+++ b/matmul.cu\n@@ -1,2 +1,2 @@\n keep\n-int a < b;\n+int b;\n";
  return kernel;
}

inline Report sample_report() {
  Report report;
  report.version = "0.1.0";
  report.command = "warpwright optimize examples";
  report.date = "2026-11-20T12:00:00Z";
  report.device = sample_kernel().variants[1].verdict.device;
  KernelReport broken;
  broken.file = "scale.cu";
  broken.name = "scale";
  broken.error = Error{"scale is never launched in scale.cu", "Add a launch"};
  broken.missing = {{"n", "How many elements does x hold?"}};
  broken.comment = "// warpwright: n = ...";
  report.kernels = {sample_kernel(), broken};
  return report;
}

/// The same kernel as the CPU backend leaves it: outcomes, no times.
inline Report sample_cpu_report() {
  Report report = sample_report();
  report.device = model::DeviceInfo{"cpu", "CPU backend"};
  for (ReportVariant &variant : report.kernels[0].variants) {
    variant.verdict.device = *report.device;
    variant.verdict.reference_time = variant.verdict.candidate_time = std::nullopt;
    variant.verdict.speedup = std::nullopt;
  }
  return report;
}

} // namespace warpwright::cli
