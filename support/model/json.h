// JSON of tasks, plans and verdicts, and validation against the schemas in support/model/schemas/.
//
// Every document from outside passes validate() first. Decoders may therefore assume the document's
// shape, and errors name the path of the wrong member. Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/task.h"
#include "support/model/verdict.h"

#include <nlohmann/json.hpp>

namespace warpwright::model {

enum class Schema { Task, Plan, Verdict, Graph };

/// Errors: the first members that violate the schema, each with its JSON path and the expected
/// form.
Result<void> validate(const nlohmann::json &document, Schema schema);

nlohmann::json to_json(const Plan &plan);
nlohmann::json to_json(const Task &task);
nlohmann::json to_json(const TorchModule &module);
nlohmann::json to_json(const Verdict &verdict);
nlohmann::json to_json(const DeviceInfo &device);

/// Decoders that validate first. Errors: as validate(), and expressions that do not parse; for
/// tasks also as check_task(), and files outside their folder.
Result<Plan> plan_from_json(const nlohmann::json &document);
/// A plan of an author who is not trusted, such as a language model: without what it says about itself, its moves and
/// whether its kernels may be compiled apart.
Result<Plan> proposed_plan_from_json(const nlohmann::json &document);
Result<Task> task_from_json(const nlohmann::json &document);
/// Checks the members without a schema. Errors: not an object, no source, a member that is unknown
/// or of another type, files outside their folder.
Result<TorchModule> torch_module_from_json(const nlohmann::json &document);
Result<Verdict> verdict_from_json(const nlohmann::json &document);
Result<DeviceInfo> device_from_json(const nlohmann::json &document);

/// "verified", "compile_failed", ...
std::string_view name(Outcome outcome);
/// "memory", "compute", "latency".
std::string_view name(Bound bound);

/// Hash of a task without `name` and `file`, which do not affect the computation.
std::string hash(const Task &task);
/// Hash of a plan without `moves`.
std::string hash(const Plan &plan);

/// Checks a candidate. Errors: a step with an unknown buffer, scalar or size, temporaries that
/// clash with the task's buffers, views that leave their buffers, ATen operators that are not pure
/// (support/model/aten_operators.h), calls of the task's module.
Result<void> check_plan(const Plan &plan, const Task &task);
/// Checks a task's references by the same rules, except that they may call the task's module. For
/// torch tasks, also checks the shapes of the buffers.
Result<void> check_task(const Task &task);

} // namespace warpwright::model
