// The families of scans, windows and indexing, as registry.cpp lists them. Thread: immutable.
#pragma once

#include "generator/families/family.h"

namespace warpwright::generator {

extern const Family kScanFamily;
extern const Family kPoolFamily;
extern const Family kDepthwiseFamily;
extern const Family kDirectConvolutionFamily;
extern const Family kTileConvolutionFamily;
extern const Family kConvolutionFamily;
extern const Family kUpsampleFamily;
extern const Family kWeightLayoutsFamily;
extern const Family kRecurrentFamily;

} // namespace warpwright::generator
