// List of all kernel families.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families {

/// All families. The first one that claims an anchor is its default.
std::span<const elements::Family> all();
/// The family of this name; nullptr if there is none.
const elements::Family *named(std::string_view name);

} // namespace warpwright::families
