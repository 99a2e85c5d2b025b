// The family of everything that reduces rows: reductions over any dimensions, arg-reductions, softmax, normalisations, and regions that
// hold several of them. Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::rows {

extern const elements::Family kRowFamily;

} // namespace warpwright::families::rows
