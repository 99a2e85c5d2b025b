// The family of matrix products; see matmul.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::matmul {

extern const elements::Family kMatmulFamily;

} // namespace warpwright::families::matmul
