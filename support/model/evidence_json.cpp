// JSON of a verdict's record and counters.
#include "support/model/counters.h"
#include "support/model/json.h"
#include "support/model/record.h"

namespace warpwright::model {
namespace {

using nlohmann::json;

constexpr std::pair<const char *, std::optional<PlanCounters> Counters::*> kSides[] = {
    {"reference", &Counters::reference}, {"candidate", &Counters::candidate}};

} // namespace

json to_json(const Record &record) {
  return {{"task", to_json(record.task)},
          {"plan", to_json(record.plan)},
          {"options", to_json(record.options)},
          {"runner_version", record.runner_version}};
}

Result<Record> record_from_json(const json &document) {
  if (!document.is_object() || !document.contains("task") || !document.contains("plan") ||
      !document.contains("options"))
    return fail("a record needs {task, plan, options}");
  auto task = TRY(task_from_json(document["task"]));
  auto plan = TRY(plan_from_json(document["plan"]));
  auto options = TRY(verify_options_from_json(document["options"]));
  return Record{std::move(task), std::move(plan), std::move(options),
                document.value("runner_version", "")};
}

json to_json(const Counters &counters) {
  json document = {{"tool", counters.tool}, {"sizes", counters.sizes}};
  for (const auto &[name, member] : kSides)
    if (const auto &side = counters.*member) {
      document[name] = {{"values", side->values}};
      if (!side->bound.empty())
        document[name]["bound"] = side->bound;
    }
  return document;
}

Counters counters_from_json(const json &document) {
  Counters counters;
  counters.tool = document.value("tool", "");
  counters.sizes = document.value("sizes", "");
  for (const auto &[name, member] : kSides)
    if (document.contains(name))
      counters.*member = PlanCounters{document[name]["values"], document[name].value("bound", "")};
  return counters;
}

} // namespace warpwright::model
