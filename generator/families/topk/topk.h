// The family of the largest or smallest elements of rows; see topk.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::topk {

extern const elements::Family kTopKFamily;

} // namespace warpwright::families::topk
