// JSON of tasks, plans and verdicts, and validation against the schemas in support/model/schemas/.
//
// Every document that comes from outside passes validate() first, so the decoders may assume its shape and a
// bad document is refused with the path of the offending member.
// Thread: any.
#pragma once

#include "support/error.h"
#include "support/model/task.h"
#include "support/model/verdict.h"

#include <nlohmann/json.hpp>

namespace warpwright::model {

enum class Schema { Task, Plan, Verdict, Graph };

/// Errors: the first members that violate the schema, each with its JSON path and what was expected.
Result<void> validate(const nlohmann::json &document, Schema schema);

nlohmann::json to_json(const Plan &plan);
nlohmann::json to_json(const Task &task);
nlohmann::json to_json(const TorchModule &module);
nlohmann::json to_json(const Verdict &verdict);
nlohmann::json to_json(const DeviceInfo &device);

/// Each validates first.
/// Errors: as validate(), and expressions that do not parse or name unknown buffers, scalars or sizes.
Result<Plan> plan_from_json(const nlohmann::json &document);
Result<Task> task_from_json(const nlohmann::json &document);
/// Errors: no object, no source, a member that is not known or of another type.
Result<TorchModule> torch_module_from_json(const nlohmann::json &document);
Result<Verdict> verdict_from_json(const nlohmann::json &document);
Result<DeviceInfo> device_from_json(const nlohmann::json &document);

/// "verified", "compile_failed", ...
std::string_view name(Outcome outcome);
/// "memory", "compute", "latency".
std::string_view name(Bound bound);

/// Hash of all of the task but `name` and `file`, which do not change what is computed.
std::string hash(const Task &task);
/// Hash of all of the plan but `moves`.
std::string hash(const Plan &plan);

/// For candidates. Errors: a step that names no buffer, scalar or size of the task, temporaries that clash with its buffers,
/// views that leave their buffers, ATen operators that are not pure (support/model/aten_operators.h), module steps.
Result<void> check_plan(const Plan &plan, const Task &task);
/// Its references, by the same rules but for module steps; of torch tasks also its buffers' shapes.
Result<void> check_task(const Task &task);

} // namespace warpwright::model
