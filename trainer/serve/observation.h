// Observations of the environment as JSON: what a client learns of its task and of its answer's
// verdict.
//
// Unknown values are absent, never 0. docs/use/environment.md lists the members; /schema gives them
// as JSON schema. Thread: any.
#pragma once

#include "trainer/serve/judging.h"

namespace warpwright::trainer {

/// What a verdict says: outcome, the first failed check, the compiler's lines, times, rates, hashes, `measured`.
nlohmann::json verdict_members(const Judged &judged);

/// The versions that a prompt shows, with their scores.
nlohmann::json exemplar_list(const std::vector<Exemplar> &shown);

/// JSON schemas of actions, observations and states: {"action", "observation", "state"}.
nlohmann::json environment_schemas();

/// The judged answer in words, for the model that wrote it.
std::string feedback_of(const Judged &judged);

} // namespace warpwright::trainer
