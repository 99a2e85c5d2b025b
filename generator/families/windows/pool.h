// The family of pooling ops; see pool.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::windows {

extern const elements::Family kPoolFamily;

} // namespace warpwright::families::windows
