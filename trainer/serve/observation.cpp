#include "trainer/serve/observation.h"

#include "support/model/json.h"
#include "trainer/endpoint/measured_text.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLogBytes = 8000; ///< of a kernel's compiler lines

Json in_us(const MeasuredTime &time) {
  return {time.median_ns / 1000, time.low_ns / 1000, time.high_ns / 1000};
}

template <class T>
void put(Json &members, const char *name, const std::optional<T> &value) {
  if (value)
    members[name] = *value;
}

void put_measured(Json &members, const Measured &measured) {
  members["outcome"] = model::name(measured.outcome);
  if (!measured.message.empty())
    members["message"] = measured.message;
  if (measured.reference_time)
    members["reference_us"] = in_us(*measured.reference_time);
  if (measured.candidate_time)
    members["candidate_us"] = in_us(*measured.candidate_time);
  if (const auto &speedup = measured.speedup)
    members["speedup"] = {speedup->ratio, speedup->low, speedup->high};
  if (measured.bound)
    members["bound"] = model::name(*measured.bound);
  put(members, "registers", measured.registers);
  put(members, "shared_bytes", measured.shared_bytes);
  put(members, "spill_bytes", measured.spill_bytes);
  put(members, "occupancy", measured.occupancy);
}

void put_verdict(Json &members, const model::Verdict &verdict) {
  if (!verdict.message.empty())
    members["message"] = verdict.message; // the whole one
  const auto failed =
      std::ranges::find_if(verdict.checks, [](const model::Check &check) { return !check.passed; });
  if (verdict.outcome != model::Outcome::Verified && failed != verdict.checks.end())
    members["failed_check"] = {{"name", failed->name}, {"detail", failed->detail}};
  Json lines = Json::array();
  for (const model::CompileReport &report : verdict.kernels)
    if (!report.log.empty())
      lines.push_back({{"kernel", report.kernel}, {"log", report.log.substr(0, kLogBytes)}});
  if (!lines.empty())
    members["compiler"] = std::move(lines);
  if (const auto &evidence = verdict.candidate_evidence) {
    put(members, "memory_share", evidence->memory_share);
    put(members, "compute_share", evidence->compute_share);
  }
  if (verdict.counters && verdict.counters->candidate)
    members["counters"] = verdict.counters->candidate->values;
  members["device"] = {{"name", verdict.device.name}, {"driver", verdict.device.driver}};
}

} // namespace

Json verdict_members(const Judged &judged) {
  Json members{{"measured", judged.measured.has_value()}};
  if (judged.measured)
    put_measured(members, *judged.measured);
  if (judged.verdict)
    put_verdict(members, *judged.verdict);
  if (judged.refused)
    members["refused"] = {{"kind", judged.refused->kind}, {"reason", judged.refused->reason}};
  if (judged.lost)
    members["message"] = describe(*judged.lost);
  return members;
}

Json exemplar_list(const std::vector<Exemplar> &shown) {
  Json list = Json::array();
  for (const Exemplar &exemplar : shown) {
    Json entry{{"outcome", model::name(exemplar.measured.outcome)}};
    if (const auto &speedup = exemplar.measured.speedup)
      entry["speedup"] = {speedup->ratio, speedup->low, speedup->high};
    if (exemplar.plan.empty())
      entry["moves"] = exemplar.moves;
    else
      entry["plan"] = Json::parse(exemplar.plan, nullptr, false);
    list.push_back(std::move(entry));
  }
  return list;
}

std::string feedback_of(const Judged &judged) {
  if (judged.refused)
    return refusal_text(judged.refused->reason);
  if (judged.verdict)
    return feedback_text(*judged.verdict);
  if (judged.measured)
    return "Your last answer: " + score_text(*judged.measured) + "\n" + facts_text(*judged.measured);
  return "Your last answer was not measured. Give it again, or another one.";
}

Json environment_schemas() {
  static const Json schemas = Json::parse(
#include "trainer/serve/schemas.json.inc"
  );
  return schemas;
}

} // namespace warpwright::trainer
