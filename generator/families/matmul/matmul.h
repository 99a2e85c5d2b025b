// The family of matrix products, as registry.cpp lists it. Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::matmul {

extern const elements::Family kMatmulFamily;

} // namespace warpwright::families::matmul
