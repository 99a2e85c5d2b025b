// JSON of parts of documents; the decoders run after validate(). Private to support/model.
#pragma once

#include "support/error.h"
#include "support/model/plan.h"

#include <nlohmann/json.hpp>

namespace warpwright::model {

/// @param where prefix of the members' names in errors: "reference."
/// Errors: expressions that do not parse.
Result<Plan> plan_from_valid_json(const nlohmann::json &document, const std::string &where);

nlohmann::json to_json(const AtenStep &step);
AtenStep aten_step_from_valid_json(const nlohmann::json &document);

} // namespace warpwright::model
