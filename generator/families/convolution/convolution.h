// Convolutions as implicit products, as a family (see the .cpp). Thread: immutable.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::generator {

extern const Family kConvolutionFamily;

} // namespace warpwright::generator
