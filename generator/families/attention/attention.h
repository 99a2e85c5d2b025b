// The family of attention in half precision; see attention.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::attention {

extern const elements::Family kAttentionFamily;

} // namespace warpwright::families::attention
