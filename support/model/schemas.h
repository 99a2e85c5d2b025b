// The texts of support/model/schemas/*.schema.json, embedded so that one copied executable has
// them.
#pragma once

namespace warpwright::model {
extern const char *const kTaskSchema, *const kPlanSchema, *const kVerdictSchema, *const kGraphSchema;
}
