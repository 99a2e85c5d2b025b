// Numbers and names as people read them: the one place that table, HTML and messages share.
#include "server/cli/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace warpwright::cli {
namespace {

std::string print(const char *format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// Three significant digits without an exponent, for values in [1, 1000).
std::string three_digits(double value) {
  return print(value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value);
}

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
  if (moves.empty())
    return "original";
  std::string text;
  for (const std::string &move : moves)
    text += (text.empty() ? "" : " + ") + move;
  return text;
}

std::string time_text(double nanoseconds) {
  if (nanoseconds < 999.5)
    return print("%.0f ns", nanoseconds);
  if (nanoseconds < 999.5e3)
    return three_digits(nanoseconds / 1e3) + " us";
  if (nanoseconds < 999.5e6)
    return three_digits(nanoseconds / 1e6) + " ms";
  return print("%.2f s", nanoseconds / 1e9);
}

std::string speedup_text(const model::Speedup &speedup) {
  return print("%.2fx", speedup.ratio) + print(" [%.2f", speedup.low) +
         print(", %.2f]", speedup.high);
}

std::string error_text(const std::optional<double> &error) {
  if (!error)
    return "-";
  return *error == 0 ? "exact" : print("%.1e", *error);
}

std::optional<double> shown_error(const model::Errors &errors) {
  return errors.candidate_fp64 ? errors.candidate_fp64 : errors.max_relative;
}

std::string outcome_text(const model::Verdict &verdict) {
  return outcome_text(verdict.outcome) + (verdict.conditioning ? ", ill-conditioned" : "");
}

std::string outcome_text(model::Outcome outcome) {
  switch (outcome) {
  case model::Outcome::Verified:
    return "verified";
  case model::Outcome::CompileFailed:
    return "compile failed";
  case model::Outcome::WrongResult:
    return "wrong result";
  case model::Outcome::Timeout:
    return "timeout";
  case model::Outcome::Crash:
    return "crash";
  case model::Outcome::SuspectedCheat:
    return "suspected cheat";
  case model::Outcome::Unsupported:
    return "unsupported";
  }
  return "unknown";
}

} // namespace warpwright::cli
