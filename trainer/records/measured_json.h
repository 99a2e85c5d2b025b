// One verdict of the records as JSON, without its task, device and state. Thread: any.
#pragma once

#include "trainer/records/record.h"

#include <nlohmann/json.hpp>

namespace warpwright::trainer {

nlohmann::json to_json(const Measured &measured);
/// Throws nlohmann::json::exception where a member has another type. Errors: an outcome that is not known.
Result<Measured> measured_from_json(const nlohmann::json &line);

} // namespace warpwright::trainer
