// The family of everything that reduces rows: reductions over any dimensions, arg-reductions, softmax, normalisations, and regions that
// hold several of them. Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

extern const Family kRowFamily;

} // namespace warpwright::generator
