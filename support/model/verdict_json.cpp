// JSON of verdicts and device descriptions. Absent members stay absent: unavailable is never 0.
#include "support/model/json.h"
#include "support/model/json_fields.h"

#include <cstdio>

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
  json document = {{"median_ns", time.median_ns},
                   {"low_ns", time.low_ns},
                   {"high_ns", time.high_ns},
                   {"samples", time.samples}};
  set(document, "kernel_ns", time.kernel_ns);
  return document;
}
Time time_from(const json &document) {
  Time time{document["median_ns"], document["low_ns"], document["high_ns"], document["samples"]};
  get(document, "kernel_ns", time.kernel_ns);
  return time;
}

json speedup_json(const Speedup &speedup) {
  return {{"ratio", speedup.ratio},
          {"low", speedup.low},
          {"high", speedup.high},
          {"samples", speedup.samples},
          {"device", speedup.device}};
}
Speedup speedup_from(const json &document) {
  return {document["ratio"], document["low"], document["high"], document["samples"],
          document["device"]};
}

json range_json(const Range &range) { return {{"low", range.low}, {"high", range.high}}; }

/// The ranges of ClockRecord with their names, for both directions.
constexpr std::pair<const char *, std::optional<Range> ClockRecord::*> kClockRanges[] = {
    {"sm_mhz", &ClockRecord::sm_mhz},
    {"memory_mhz", &ClockRecord::memory_mhz},
    {"temperature_c", &ClockRecord::temperature_c}};

constexpr std::pair<const char *, Bound> kBounds[] = {
    {"memory", Bound::Memory}, {"compute", Bound::Compute}, {"latency", Bound::Latency}};

constexpr std::pair<const char *, std::optional<double> Evidence::*> kEvidenceMembers[] = {
    {"bytes_per_s", &Evidence::bytes_per_s},
    {"flops_per_s", &Evidence::flops_per_s},
    {"memory_share", &Evidence::memory_share},
    {"compute_share", &Evidence::compute_share}};

json evidence_json(const Evidence &evidence) {
  json document = {{"bound", name(evidence.bound)}};
  for (const auto &[key, member] : kEvidenceMembers)
    set(document, key, evidence.*member);
  return document;
}

Evidence evidence_from(const json &document) {
  Evidence evidence;
  for (const auto &[text, value] : kBounds)
    if (document["bound"] == text)
      evidence.bound = value;
  for (const auto &[key, member] : kEvidenceMembers)
    get(document, key, evidence.*member);
  return evidence;
}

void add_measurements(const Verdict &verdict, json &document) {
  if (const auto &called = verdict.as_called)
    document["as_called"] = {{"reference_time", time_json(called->reference_time)},
                             {"candidate_time", time_json(called->candidate_time)},
                             {"speedup", speedup_json(called->speedup)}};
  for (const Baseline &baseline : verdict.baselines) {
    json entry = {{"name", baseline.name}};
    if (baseline.speedup) {
      entry["reference_time"] = time_json(*baseline.reference_time);
      entry["candidate_time"] = time_json(*baseline.candidate_time);
      entry["speedup"] = speedup_json(*baseline.speedup);
    } else {
      entry["missing"] = baseline.missing;
    }
    document["baselines"].push_back(std::move(entry));
  }
  set(document, "library_share", verdict.library_share);
  if (!verdict.framework.empty())
    document["framework"] = verdict.framework;
  if (const auto &clocks = verdict.clocks) {
    json &record = document["clocks"] = {{"discarded_pairs", clocks->discarded_pairs}};
    for (const auto &[key, member] : kClockRanges)
      if ((*clocks).*member)
        record[key] = range_json(*((*clocks).*member));
    set(record, "power_capped", clocks->power_capped);
  }
  if (verdict.reference_evidence)
    document["evidence"]["reference"] = evidence_json(*verdict.reference_evidence);
  if (verdict.candidate_evidence)
    document["evidence"]["candidate"] = evidence_json(*verdict.candidate_evidence);
}

void read_measurements(const json &document, Verdict &verdict) {
  if (const auto called = document.find("as_called"); called != document.end())
    verdict.as_called =
        AsCalled{time_from((*called)["reference_time"]), time_from((*called)["candidate_time"]),
                 speedup_from((*called)["speedup"])};
  for (const json &entry : document.value("baselines", json::array())) {
    Baseline &baseline = verdict.baselines.emplace_back(Baseline{.name = entry["name"]});
    baseline.missing = entry.value("missing", "");
    if (!entry.contains("speedup"))
      continue;
    baseline.reference_time = time_from(entry["reference_time"]);
    baseline.candidate_time = time_from(entry["candidate_time"]);
    baseline.speedup = speedup_from(entry["speedup"]);
  }
  get(document, "library_share", verdict.library_share);
  verdict.framework = document.value("framework", std::map<std::string, std::string>{});
  if (const auto record = document.find("clocks"); record != document.end()) {
    ClockRecord &clocks = verdict.clocks.emplace();
    for (const auto &[key, member] : kClockRanges)
      if (record->contains(key))
        clocks.*member = Range{(*record)[key]["low"], (*record)[key]["high"]};
    get(*record, "power_capped", clocks.power_capped);
    clocks.discarded_pairs = record->value("discarded_pairs", 0);
  }
  const json evidence = document.value("evidence", json::object());
  if (evidence.contains("reference"))
    verdict.reference_evidence = evidence_from(evidence["reference"]);
  if (evidence.contains("candidate"))
    verdict.candidate_evidence = evidence_from(evidence["candidate"]);
}

/// The members of Errors with their names, for both directions.
constexpr std::pair<const char *, std::optional<double> Errors::*> kErrorMembers[] = {
    {"max_absolute", &Errors::max_absolute},
    {"max_relative", &Errors::max_relative},
    {"candidate_fp64", &Errors::candidate_fp64},
    {"reference_fp64", &Errors::reference_fp64}};

/// The numbers of Conditioning with their names, for both directions.
constexpr std::pair<const char *, double Conditioning::*> kConditioningMembers[] = {
    {"spread", &Conditioning::spread},
    {"candidate", &Conditioning::candidate},
    {"reference", &Conditioning::reference},
    {"allowed", &Conditioning::allowed}};

/// Sizes of a GPU with their names; 0 is left out, for both directions.
constexpr std::pair<const char *, int DeviceInfo::*> kDeviceSizes[] = {
    {"shared_bytes_block", &DeviceInfo::shared_bytes_block},
    {"shared_bytes_multiprocessor", &DeviceInfo::shared_bytes_multiprocessor},
    {"registers_multiprocessor", &DeviceInfo::registers_multiprocessor},
    {"threads_multiprocessor", &DeviceInfo::threads_multiprocessor}};

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
  device.multiprocessors = document.value("multiprocessors", 0);
  for (const auto &[name, member] : kDeviceSizes)
    device.*member = document.value(name, 0);
  get(document, "copy_bytes_per_s", device.copy_bytes_per_s);
  get(document, "peak_bytes_per_s", device.peak_bytes_per_s);
  get(document, "peak_fp32_flops_per_s", device.peak_fp32_flops_per_s);
  get(document, "fp32_flops_per_s", device.fp32_flops_per_s);
  get(document, "tf32_flops_per_s", device.tf32_flops_per_s);
  get(document, "bf16_flops_per_s", device.bf16_flops_per_s);
  get(document, "bracket_ns", device.bracket_ns);
  get(document, "probe_ns", device.probe_ns);
  return device;
}

} // namespace

std::string_view name(Outcome outcome) {
  for (const auto &[text, value] : kOutcomes)
    if (value == outcome)
      return text;
  return {};
}

std::string_view name(Bound bound) {
  for (const auto &[text, value] : kBounds)
    if (value == bound)
      return text;
  return {};
}

int capability_of(const DeviceInfo &device) {
  int major = 0, minor = 0;
  return std::sscanf(device.compute_capability.c_str(), "%d.%d", &major, &minor) == 2
             ? 10 * major + minor
             : 0;
}

json to_json(const DeviceInfo &device) {
  json document = {{"kind", device.kind},
                   {"name", device.name},
                   {"identifier", device.identifier},
                   {"compute_capability", device.compute_capability},
                   {"driver", device.driver},
                   {"host", device.host},
                   {"memory_bytes", device.memory_bytes},
                   {"l2_bytes", device.l2_bytes},
                   {"multiprocessors", device.multiprocessors}};
  for (const auto &[name, member] : kDeviceSizes)
    if (device.*member > 0)
      document[name] = device.*member;
  set(document, "copy_bytes_per_s", device.copy_bytes_per_s);
  set(document, "peak_bytes_per_s", device.peak_bytes_per_s);
  set(document, "peak_fp32_flops_per_s", device.peak_fp32_flops_per_s);
  set(document, "fp32_flops_per_s", device.fp32_flops_per_s);
  set(document, "tf32_flops_per_s", device.tf32_flops_per_s);
  set(document, "bf16_flops_per_s", device.bf16_flops_per_s);
  set(document, "bracket_ns", device.bracket_ns);
  set(document, "probe_ns", device.probe_ns);
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
  if (verdict.conditioning) {
    document["conditioning"]["output"] = verdict.conditioning->output;
    for (const auto &[key, member] : kConditioningMembers)
      document["conditioning"][key] = number((*verdict.conditioning).*member);
  }
  if (verdict.reference_time)
    document["reference_time"] = time_json(*verdict.reference_time);
  if (verdict.candidate_time)
    document["candidate_time"] = time_json(*verdict.candidate_time);
  if (verdict.speedup)
    document["speedup"] = speedup_json(*verdict.speedup);
  if (verdict.host_code)
    document["host_code"] = true;
  add_measurements(verdict, document);
  if (verdict.counters)
    document["counters"] = to_json(*verdict.counters);
  if (verdict.record)
    document["record"] = to_json(*verdict.record);
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
  if (const auto entry = document.find("conditioning"); entry != document.end()) {
    verdict.conditioning.emplace().output = (*entry)["output"];
    for (const auto &[key, member] : kConditioningMembers)
      (*verdict.conditioning).*member = number_from((*entry)[key]);
  }
  if (document.contains("reference_time"))
    verdict.reference_time = time_from(document["reference_time"]);
  if (document.contains("candidate_time"))
    verdict.candidate_time = time_from(document["candidate_time"]);
  if (document.contains("speedup"))
    verdict.speedup = speedup_from(document["speedup"]);
  read_measurements(document, verdict);
  verdict.discarded_samples = document.value("discarded_samples", 0);
  verdict.measured_sizes = document.value("measured_sizes", "");
  verdict.date = document.value("date", "");
  verdict.host_code = document.value("host_code", false);
  verdict.task_hash = document.value("task_hash", "");
  verdict.plan_hash = document.value("plan_hash", "");
  if (document.contains("counters"))
    verdict.counters = counters_from_json(document["counters"]);
  if (document.contains("record")) {
    auto record = record_from_json(document["record"]);
    if (!record)
      return fail("the verdict's record: " + record.error().message, record.error().remedy);
    verdict.record = std::move(*record);
  }
  return verdict;
}

} // namespace warpwright::model
