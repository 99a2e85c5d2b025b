// JSON form of verdicts: times and ratios are short arrays; unknown values are absent.
#include "trainer/records/measured_json.h"

#include "support/model/json.h"

#include <cmath>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

/// Rounds to six digits, which is more than the precision of any measurement.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value))
    return value;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

template <class T>
void put(Json &line, const char *key, const std::optional<T> &value) {
  if (value)
    line[key] = *value;
}

void put_time(Json &line, const char *key, const std::optional<MeasuredTime> &time) {
  if (time)
    line[key] = {rounded(time->median_ns), rounded(time->low_ns), rounded(time->high_ns)};
}

template <class T>
std::optional<T> get(const Json &line, const char *key) {
  return line.contains(key) ? std::optional(line.at(key).get<T>()) : std::nullopt;
}

std::optional<MeasuredTime> get_time(const Json &line, const char *key) {
  if (!line.contains(key))
    return std::nullopt;
  const Json &time = line.at(key);
  return MeasuredTime{time.at(0).get<double>(), time.at(1).get<double>(), time.at(2).get<double>()};
}

std::optional<model::Bound> get_bound(const Json &line, const char *key) {
  const auto text = get<std::string>(line, key);
  for (const model::Bound bound :
       {model::Bound::Memory, model::Bound::Compute, model::Bound::Latency})
    if (text && model::name(bound) == *text)
      return bound;
  return std::nullopt;
}

std::optional<model::Outcome> outcome_from(const std::string &text) {
  using enum model::Outcome;
  for (const model::Outcome outcome :
       {Verified, CompileFailed, WrongResult, Timeout, Crash, SuspectedCheat, Unsupported})
    if (model::name(outcome) == text)
      return outcome;
  return std::nullopt;
}

} // namespace

Json to_json(const Measured &measured) {
  Json line{{"outcome", model::name(measured.outcome)}, {"seconds", rounded(measured.seconds)}};
  if (!measured.message.empty())
    line["message"] = measured.message;
  if (!measured.date.empty())
    line["date"] = measured.date;
  if (measured.confirmed)
    line["confirmed"] = true;
  put_time(line, "reference", measured.reference_time);
  put_time(line, "candidate", measured.candidate_time);
  if (const auto &speedup = measured.speedup)
    line["speedup"] = {rounded(speedup->ratio), rounded(speedup->low), rounded(speedup->high),
                       speedup->samples};
  if (measured.as_called)
    line["as_called"] = rounded(*measured.as_called);
  put(line, "registers", measured.registers);
  put(line, "shared_bytes", measured.shared_bytes);
  put(line, "spill_bytes", measured.spill_bytes);
  if (measured.occupancy)
    line["occupancy"] = rounded(*measured.occupancy);
  if (measured.bound)
    line["bound"] = model::name(*measured.bound);
  if (measured.reference_bound)
    line["reference_bound"] = model::name(*measured.reference_bound);
  return line;
}

Result<Measured> measured_from_json(const Json &line) {
  Measured measured;
  const auto outcome = outcome_from(line.at("outcome").get<std::string>());
  if (!outcome)
    return fail("there is no outcome " + line.at("outcome").dump());
  measured.outcome = *outcome;
  measured.message = line.value("message", "");
  measured.date = line.value("date", "");
  measured.confirmed = line.value("confirmed", false);
  measured.seconds = line.value("seconds", 0.0);
  measured.reference_time = get_time(line, "reference");
  measured.candidate_time = get_time(line, "candidate");
  if (line.contains("speedup")) {
    const Json &speedup = line.at("speedup");
    measured.speedup = MeasuredRatio{speedup.at(0).get<double>(), speedup.at(1).get<double>(),
                                     speedup.at(2).get<double>(), speedup.at(3).get<int>()};
  }
  measured.as_called = get<double>(line, "as_called");
  measured.registers = get<int>(line, "registers");
  measured.shared_bytes = get<std::int64_t>(line, "shared_bytes");
  measured.spill_bytes = get<std::int64_t>(line, "spill_bytes");
  measured.occupancy = get<double>(line, "occupancy");
  measured.bound = get_bound(line, "bound");
  measured.reference_bound = get_bound(line, "reference_bound");
  return measured;
}

} // namespace warpwright::trainer
