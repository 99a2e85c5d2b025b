// The families. Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families {

/// All of them; for an anchor the first that claims it is the best guess.
std::span<const elements::Family> all();
/// nullptr: there is none of that name.
const elements::Family *named(std::string_view name);

} // namespace warpwright::families
