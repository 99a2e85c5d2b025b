// JSON of verdicts and device descriptions, with one list of members per struct for both
// directions. Absent members stay absent and never become 0.
#include "support/model/json.h"
#include "support/model/json_fields.h"

#include <cstdio>
#include <type_traits>

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
constexpr std::pair<std::string_view, Bound> kBounds[] = {
    {"memory", Bound::Memory}, {"compute", Bound::Compute}, {"latency", Bound::Latency}};

const auto &names_of(Outcome) { return kOutcomes; }
const auto &names_of(Bound) { return kBounds; }

/// `S` or `const S`, so that a list of members serves reading and writing.
template <class T, class S>
concept Is = std::same_as<std::remove_const_t<T>, S>;

#define WARPWRIGHT_FIELD(member) field(#member, value.member);
#define WARPWRIGHT_FIELDS(...)                                                                     \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(WARPWRIGHT_FIELD, __VA_ARGS__))
#define WARPWRIGHT_MEMBERS(S, ...)                                                                 \
  void members(Is<S> auto &value, auto &field) { WARPWRIGHT_FIELDS(__VA_ARGS__) }

WARPWRIGHT_MEMBERS(CompileReport, kernel, compile_ms, log, registers, static_shared_bytes,
                   local_bytes, spill_store_bytes, spill_load_bytes, occupancy)
WARPWRIGHT_MEMBERS(Check, name, passed, detail)
WARPWRIGHT_MEMBERS(Errors, max_absolute, max_relative, candidate_fp64, reference_fp64)
WARPWRIGHT_MEMBERS(Conditioning, output, spread, candidate, reference, allowed)
WARPWRIGHT_MEMBERS(Time, median_ns, low_ns, high_ns, samples, kernel_ns)
WARPWRIGHT_MEMBERS(Speedup, ratio, low, high, samples, device)
WARPWRIGHT_MEMBERS(AsCalled, reference_time, candidate_time, speedup)
WARPWRIGHT_MEMBERS(Range, low, high)
WARPWRIGHT_MEMBERS(ClockRecord, discarded_pairs, sm_mhz, memory_mhz, temperature_c, power_capped)
WARPWRIGHT_MEMBERS(Evidence, bound, bytes_per_s, flops_per_s, memory_share, compute_share)

void members(Is<Baseline> auto &value, auto &field) {
  WARPWRIGHT_FIELDS(name, reference_time, candidate_time, speedup)
  if (!value.speedup)
    field("missing", value.missing);
  field.unless_empty("wrong", value.wrong);
}

void members(Is<DeviceInfo> auto &value, auto &field) {
  WARPWRIGHT_FIELDS(kind, name, identifier, compute_capability, driver, host, memory_bytes,
                    l2_bytes, multiprocessors, copy_bytes_per_s, peak_bytes_per_s,
                    peak_fp32_flops_per_s, fp32_flops_per_s, tf32_flops_per_s, bf16_flops_per_s,
                    bracket_ns, probe_ns)
  field.unless_empty("shared_bytes_block", value.shared_bytes_block);
  field.unless_empty("shared_bytes_multiprocessor", value.shared_bytes_multiprocessor);
  field.unless_empty("registers_multiprocessor", value.registers_multiprocessor);
  field.unless_empty("threads_multiprocessor", value.threads_multiprocessor);
}

/// All members but the evidence, the counters and the record, whose JSON has another shape.
void members(Is<Verdict> auto &value, auto &field) {
  WARPWRIGHT_FIELDS(outcome, message, device, kernels, reference_kernels, checks, errors,
                    conditioning, reference_time, candidate_time, speedup, as_called, library_share,
                    clocks, discarded_samples, measured_sizes, date, task_hash, plan_hash)
  field.unless_empty("baselines", value.baselines);
  field.unless_empty("framework", value.framework);
  field.unless_empty("host_code", value.host_code);
  field.unless_empty("step_ns", value.step_ns);
}

struct Writer {
  json document = json::object();

  template <class T>
  static json encode(const T &value) {
    if constexpr (std::is_enum_v<T>) {
      return name(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      return number(value);
    } else if constexpr (std::is_constructible_v<json, T>) {
      return value;
    } else {
      Writer writer;
      members(value, writer);
      return writer.document;
    }
  }

  template <class T>
  void operator()(const char *key, const T &member) {
    document[key] = encode(member);
  }
  template <class T>
  void operator()(const char *key, const std::optional<T> &member) {
    if (member)
      document[key] = encode(*member);
  }
  template <class T>
  void operator()(const char *key, const std::vector<T> &member) {
    json &list = document[key] = json::array();
    for (const T &element : member)
      list.push_back(encode(element));
  }
  template <class T>
  void unless_empty(const char *key, const T &member) {
    if (member != T{})
      (*this)(key, member);
  }
};

/// Reader of a document that fits the schema, so its members have the right types.
struct Reader {
  const json &document;

  template <class T>
  static void decode(const json &value, T &member) {
    if constexpr (std::is_enum_v<T>) {
      for (const auto &[text, known] : names_of(member))
        if (value == text)
          member = known;
    } else if constexpr (std::is_floating_point_v<T>) {
      member = number_from(value);
    } else if constexpr (std::is_constructible_v<json, T>) {
      value.get_to(member);
    } else {
      Reader reader{value};
      members(member, reader);
    }
  }
  template <class T>
  static void decode(const json &value, std::optional<T> &member) {
    decode(value, member.emplace());
  }
  template <class T>
  static void decode(const json &value, std::vector<T> &member) {
    for (const json &element : value)
      decode(element, member.emplace_back());
  }

  template <class T>
  void operator()(const char *key, T &member) {
    if (const auto found = document.find(key); found != document.end())
      decode(*found, member);
  }
  template <class T>
  void unless_empty(const char *key, T &member) {
    (*this)(key, member);
  }
};

constexpr std::pair<const char *, std::optional<Evidence> Verdict::*> kEvidence[] = {
    {"reference", &Verdict::reference_evidence}, {"candidate", &Verdict::candidate_evidence}};

template <class T>
std::string_view name_among(const T &names, auto wanted) {
  for (const auto &[text, value] : names)
    if (value == wanted)
      return text;
  return {};
}

} // namespace

std::string_view name(Outcome outcome) { return name_among(kOutcomes, outcome); }
std::string_view name(Bound bound) { return name_among(kBounds, bound); }

int capability_of(const DeviceInfo &device) {
  int major = 0, minor = 0;
  return std::sscanf(device.compute_capability.c_str(), "%d.%d", &major, &minor) == 2
             ? 10 * major + minor
             : 0;
}

json to_json(const DeviceInfo &device) { return Writer::encode(device); }

json to_json(const Verdict &verdict) {
  json document = Writer::encode(verdict);
  for (const auto &[side, evidence] : kEvidence)
    if (verdict.*evidence)
      document["evidence"][side] = Writer::encode(*(verdict.*evidence));
  if (verdict.counters)
    document["counters"] = to_json(*verdict.counters);
  if (verdict.record)
    document["record"] = to_json(*verdict.record);
  return document;
}

Result<DeviceInfo> device_from_json(const json &document) {
  // The verdict's schema checks the device as a part of a minimal verdict.
  const json verdict = {{"outcome", "unsupported"},
                        {"message", ""},
                        {"device", document},
                        {"kernels", json::array()},
                        {"checks", json::array()}};
  TRY(validate(verdict, Schema::Verdict));
  DeviceInfo device;
  Reader::decode(document, device);
  return device;
}

Result<Verdict> verdict_from_json(const json &document) {
  TRY(validate(document, Schema::Verdict));
  Verdict verdict;
  Reader::decode(document, verdict);
  if (const auto evidence = document.find("evidence"); evidence != document.end())
    for (const auto &[side, member] : kEvidence)
      Reader{*evidence}(side, verdict.*member);
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
