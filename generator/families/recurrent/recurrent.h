// Recurrent layers, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::recurrent {

extern const elements::Family kRecurrentFamily;

} // namespace warpwright::families::recurrent
