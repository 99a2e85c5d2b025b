// The family of matrix products, as registry.cpp lists it. Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

extern const Family kMatmulFamily;

} // namespace warpwright::generator
