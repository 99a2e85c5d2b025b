// JSON document of `warpwright optimize --json`. Values that were not measured are null.
#include "server/cli/report/report.h"

#include "server/cli/report/program_report.h"
#include "support/model/json.h"

namespace warpwright::cli {
namespace {

using Json = nlohmann::json;

template <class T>
Json or_null(const std::optional<T> &value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Error &error) { return {{"message", error.message}, {"remedy", error.remedy}}; }

Json to_json(const std::optional<model::Time> &time) {
  if (!time)
    return nullptr;
  return {{"median_ns", time->median_ns},
          {"low_ns", time->low_ns},
          {"high_ns", time->high_ns},
          {"samples", time->samples}};
}

Json to_json(const std::optional<model::Speedup> &speedup) {
  if (!speedup)
    return nullptr;
  return {{"ratio", speedup->ratio},
          {"low", speedup->low},
          {"high", speedup->high},
          {"samples", speedup->samples},
          {"device", speedup->device}};
}

Json to_json(const model::Errors &errors) {
  return {{"max_absolute", or_null(errors.max_absolute)},
          {"max_relative", or_null(errors.max_relative)},
          {"candidate_fp64", or_null(errors.candidate_fp64)},
          {"reference_fp64", or_null(errors.reference_fp64)}};
}

/// Torch modules: each measured baseline, and the reason for each missing one.
Json baselines_json(const model::Verdict &verdict) {
  Json list = Json::array();
  for (const model::Baseline &baseline : verdict.baselines)
    list.push_back({{"name", baseline.name},
                    {"speedup", to_json(baseline.speedup)},
                    {"time", to_json(baseline.candidate_time)},
                    {"reference_time", to_json(baseline.reference_time)},
                    {"missing", baseline.missing}});
  return list;
}

Json to_json(const ReportVariant &variant) {
  const model::Verdict &verdict = variant.verdict;
  const model::CompileReport compile =
      verdict.kernels.empty() ? model::CompileReport{} : verdict.kernels.front();
  Json checks = Json::array();
  for (const model::Check &check : verdict.checks)
    checks.push_back({{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
  return {{"moves", variant.moves},
          {"proposed_by", variant.by},
          {"not_applicable", variant.not_applicable.empty() ? Json() : Json(variant.not_applicable)},
          {"source", variant.source.empty() ? Json() : Json(variant.source)},
          {"outcome", std::string(model::name(verdict.outcome))},
          {"message", verdict.message},
          {"speedup", to_json(verdict.speedup)},
          {"time", to_json(verdict.candidate_time)},
          {"reference_time", to_json(verdict.reference_time)},
          {"errors", to_json(verdict.errors)},
          {"baselines", baselines_json(verdict)},
          {"library_share", or_null(verdict.library_share)},
          {"registers", or_null(compile.registers)},
          {"occupancy", or_null(compile.occupancy)},
          {"shared_bytes", or_null(compile.static_shared_bytes)},
          {"spill_bytes", or_null(compile.spill_store_bytes)},
          {"checks", checks},
          {"discarded_samples", verdict.discarded_samples},
          {"device", verdict.device.name},
          {"driver", verdict.device.driver},
          {"sizes", verdict.measured_sizes},
          {"date", verdict.date},
          {"plan_hash", verdict.plan_hash}};
}

Json to_json(const KernelReport &kernel) {
  Json variants = Json::array(), missing = Json::array();
  for (const ReportVariant &variant : kernel.variants)
    variants.push_back(to_json(variant));
  for (const auto &[name, question] : kernel.missing)
    missing.push_back({{"name", name}, {"question", question}});
  Json json = {
      {"file", kernel.file},      {"name", kernel.name},
      {"line", kernel.line},      {"error", kernel.error ? to_json(*kernel.error) : Json(nullptr)},
      {"missing", missing},       {"assumptions", kernel.assumptions},
      {"sizes", kernel.sizes},    {"task_hash", kernel.task_hash},
      {"variants", variants},     {"best", or_null(kernel.best)},
      {"diff", kernel.diff},      {"applied", nullptr},
      {"seconds", kernel.seconds}};
  json["policy"] = kernel.policy;
  json["analysis"] = kernel.analysis;
  json["verdict"] =
      kernel.best ? model::to_json(kernel.variants[*kernel.best].verdict) : Json(nullptr);
  if (!kernel.comment.empty())
    json["comment"] = kernel.comment;
  if (kernel.apply)
    json["applied"] = {{"applied", kernel.apply->state == ApplyResult::State::Applied},
                       {"message", kernel.apply->message}};
  return json;
}

} // namespace

Json render_json(const Report &report) {
  Json kernels = Json::array(), failures = Json::array();
  for (const KernelReport &kernel : report.kernels)
    kernels.push_back(to_json(kernel));
  for (const Error &error : report.failures)
    failures.push_back(to_json(error));
  Json json = {{"version", report.version},
               {"date", report.date},
               {"command", report.command},
               {"runner", report.runner},
               {"device", report.device ? model::to_json(*report.device) : Json(nullptr)},
               {"notes", report.notes},
               {"failures", failures},
               {"kernels", kernels}};
  if (report.program)
    json["program"] = render_json(*report.program);
  return json;
}

} // namespace warpwright::cli
