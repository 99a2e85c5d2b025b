// Conversion of recorded verdicts to and from JSON, without task, device and state. Thread: any.
#pragma once

#include "trainer/records/record.h"

#include <nlohmann/json.hpp>

namespace warpwright::trainer {

nlohmann::json to_json(const Measured &measured);
/// Throws nlohmann::json::exception for a missing member or one of another type. Errors: an unknown outcome.
Result<Measured> measured_from_json(const nlohmann::json &line);

} // namespace warpwright::trainer
