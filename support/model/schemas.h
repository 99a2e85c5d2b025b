// Texts of support/model/schemas/*.schema.json, embedded so that a copied executable contains them.
#pragma once

namespace warpwright::model {
extern const char *const kTaskSchema, *const kPlanSchema, *const kVerdictSchema, *const kGraphSchema;
}
