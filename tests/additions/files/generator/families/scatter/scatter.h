// Additions at indices, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

extern const Family kScatterFamily;

} // namespace warpwright::generator
