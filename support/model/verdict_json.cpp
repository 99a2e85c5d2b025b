// JSON of verdicts and device descriptions. Absent members stay absent: unavailable is never 0.
#include "support/model/json.h"
#include "support/model/json_fields.h"

namespace warpwright::model {
namespace {

using nlohmann::json;
using namespace fields;

constexpr std::pair<std::string_view, Outcome> kOutcomes[] = {
    {"verified", Outcome::Verified},
    {"compile_failed", Outcome::CompileFailed},
    {"wrong_result", Outcome::WrongResult},
    {"timeout", Outcome::Timeout},
    {"crash", Outcome::Crash},
    {"suspected_cheat", Outcome::SuspectedCheat},
    {"unsupported", Outcome::Unsupported}};

json report_json(const CompileReport &report) {
  json document = {
      {"kernel", report.kernel}, {"compile_ms", report.compile_ms}, {"log", report.log}};
  set(document, "registers", report.registers);
  set(document, "static_shared_bytes", report.static_shared_bytes);
  set(document, "local_bytes", report.local_bytes);
  set(document, "spill_store_bytes", report.spill_store_bytes);
  set(document, "spill_load_bytes", report.spill_load_bytes);
  set(document, "occupancy", report.occupancy);
  return document;
}

CompileReport report_from(const json &document) {
  CompileReport report;
  report.kernel = document["kernel"];
  report.compile_ms = document["compile_ms"];
  report.log = document.value("log", "");
  get(document, "registers", report.registers);
  get(document, "static_shared_bytes", report.static_shared_bytes);
  get(document, "local_bytes", report.local_bytes);
  get(document, "spill_store_bytes", report.spill_store_bytes);
  get(document, "spill_load_bytes", report.spill_load_bytes);
  get(document, "occupancy", report.occupancy);
  return report;
}

json time_json(const Time &time) {
  return {{"median_ns", time.median_ns},
          {"low_ns", time.low_ns},
          {"high_ns", time.high_ns},
          {"samples", time.samples}};
}
Time time_from(const json &document) {
  return {document["median_ns"], document["low_ns"], document["high_ns"], document["samples"]};
}

/// The members of Errors with their names, for both directions.
constexpr std::pair<const char *, std::optional<double> Errors::*> kErrorMembers[] = {
    {"max_absolute", &Errors::max_absolute},
    {"max_relative", &Errors::max_relative},
    {"candidate_fp64", &Errors::candidate_fp64},
    {"reference_fp64", &Errors::reference_fp64}};

DeviceInfo decode_device(const json &document) {
  DeviceInfo device;
  device.kind = document["kind"];
  device.name = document["name"];
  device.identifier = document.value("identifier", "");
  device.compute_capability = document.value("compute_capability", "");
  device.driver = document.value("driver", "");
  device.host = document.value("host", "");
  device.memory_bytes = document.value("memory_bytes", std::uint64_t{0});
  device.l2_bytes = document.value("l2_bytes", std::uint64_t{0});
  get(document, "copy_bytes_per_s", device.copy_bytes_per_s);
  get(document, "fp32_flops_per_s", device.fp32_flops_per_s);
  return device;
}

} // namespace

std::string_view name(Outcome outcome) {
  for (const auto &[text, value] : kOutcomes)
    if (value == outcome)
      return text;
  return {};
}

json to_json(const DeviceInfo &device) {
  json document = {{"kind", device.kind},
                   {"name", device.name},
                   {"identifier", device.identifier},
                   {"compute_capability", device.compute_capability},
                   {"driver", device.driver},
                   {"host", device.host},
                   {"memory_bytes", device.memory_bytes},
                   {"l2_bytes", device.l2_bytes}};
  set(document, "copy_bytes_per_s", device.copy_bytes_per_s);
  set(document, "fp32_flops_per_s", device.fp32_flops_per_s);
  return document;
}

json to_json(const Verdict &verdict) {
  json document = {{"outcome", name(verdict.outcome)},
                   {"message", verdict.message},
                   {"device", to_json(verdict.device)},
                   {"kernels", json::array()},
                   {"reference_kernels", json::array()},
                   {"checks", json::array()},
                   {"errors", json::object()},
                   {"discarded_samples", verdict.discarded_samples},
                   {"measured_sizes", verdict.measured_sizes},
                   {"date", verdict.date},
                   {"task_hash", verdict.task_hash},
                   {"plan_hash", verdict.plan_hash}};
  for (const CompileReport &report : verdict.kernels)
    document["kernels"].push_back(report_json(report));
  for (const CompileReport &report : verdict.reference_kernels)
    document["reference_kernels"].push_back(report_json(report));
  for (const Check &check : verdict.checks)
    document["checks"].push_back(
        {{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
  for (const auto &[key, member] : kErrorMembers)
    if (verdict.errors.*member)
      document["errors"][key] = number(*(verdict.errors.*member));
  if (verdict.reference_time)
    document["reference_time"] = time_json(*verdict.reference_time);
  if (verdict.candidate_time)
    document["candidate_time"] = time_json(*verdict.candidate_time);
  if (const auto &speedup = verdict.speedup)
    document["speedup"] = {{"ratio", speedup->ratio},
                           {"low", speedup->low},
                           {"high", speedup->high},
                           {"samples", speedup->samples},
                           {"device", speedup->device}};
  return document;
}

Result<DeviceInfo> device_from_json(const json &document) {
  // The device is a part of every verdict: a minimal one lets the verdict's schema judge it.
  const json verdict = {{"outcome", "unsupported"},
                        {"message", ""},
                        {"device", document},
                        {"kernels", json::array()},
                        {"checks", json::array()}};
  if (auto valid = validate(verdict, Schema::Verdict); !valid)
    return std::unexpected(valid.error());
  return decode_device(document);
}

Result<Verdict> verdict_from_json(const json &document) {
  if (auto valid = validate(document, Schema::Verdict); !valid)
    return std::unexpected(valid.error());
  Verdict verdict;
  for (const auto &[text, value] : kOutcomes)
    if (document["outcome"] == text)
      verdict.outcome = value;
  verdict.message = document["message"];
  verdict.device = decode_device(document["device"]);
  for (const json &report : document["kernels"])
    verdict.kernels.push_back(report_from(report));
  for (const json &report : document.value("reference_kernels", json::array()))
    verdict.reference_kernels.push_back(report_from(report));
  for (const json &check : document["checks"])
    verdict.checks.push_back({check["name"], check["passed"], check.value("detail", "")});
  const json errors = document.value("errors", json::object());
  for (const auto &[key, member] : kErrorMembers)
    if (errors.contains(key))
      verdict.errors.*member = number_from(errors[key]);
  if (document.contains("reference_time"))
    verdict.reference_time = time_from(document["reference_time"]);
  if (document.contains("candidate_time"))
    verdict.candidate_time = time_from(document["candidate_time"]);
  if (document.contains("speedup")) {
    const json &speedup = document["speedup"];
    verdict.speedup = Speedup{speedup["ratio"], speedup["low"], speedup["high"], speedup["samples"],
                              speedup["device"]};
  }
  verdict.discarded_samples = document.value("discarded_samples", 0);
  verdict.measured_sizes = document.value("measured_sizes", "");
  verdict.date = document.value("date", "");
  verdict.task_hash = document.value("task_hash", "");
  verdict.plan_hash = document.value("plan_hash", "");
  return verdict;
}

} // namespace warpwright::model
