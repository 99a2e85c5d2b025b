// Readable numbers and names, shared by the table, the HTML page and messages.
#include "server/cli/report/report.h"
#include "support/words.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpwright::cli {
namespace {

/// Sort key: measured, verified only, the rest.
int rank(const ReportVariant &variant) {
  if (variant.verdict.speedup)
    return 0;
  return variant.verdict.outcome == model::Outcome::Verified ? 1 : 2;
}

} // namespace

bool on_gpu(const Report &report) { return report.device && report.device->kind == "cuda"; }

std::vector<std::size_t> reading_order(const KernelReport &kernel) {
  std::vector<std::size_t> order(kernel.variants.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const ReportVariant &left = kernel.variants[a], &right = kernel.variants[b];
    if (rank(left) != rank(right))
      return rank(left) < rank(right);
    return rank(left) == 0 && left.verdict.speedup->ratio > right.verdict.speedup->ratio;
  });
  return order;
}

const model::Time *reference_time(const KernelReport &kernel) {
  if (kernel.best && kernel.variants[*kernel.best].verdict.reference_time)
    return &*kernel.variants[*kernel.best].verdict.reference_time;
  for (const ReportVariant &variant : kernel.variants)
    if (variant.verdict.reference_time)
      return &*variant.verdict.reference_time;
  return nullptr;
}

std::string moves_text(const std::vector<std::string> &moves) {
  return moves.empty() ? "original" : joined(moves, " + ");
}

std::string error_text(const std::optional<double> &error) {
  if (!error)
    return "-";
  return *error == 0 ? "exact" : printed("%.1e", *error);
}

std::optional<double> shown_error(const model::Errors &errors) {
  return errors.candidate_fp64 ? errors.candidate_fp64 : errors.max_relative;
}

} // namespace warpwright::cli
