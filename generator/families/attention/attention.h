// The family of attention in half precision; see attention.cpp.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::families::attention {

extern const elements::Family kAttentionFamily;

/// True if PyTorch's attention is likely quicker than the family's, as it is for many long rows.
bool is_for_library(const ops::GraphIndex &graph, const model::Node &anchor,
                    const elements::DeviceFacts &device);

} // namespace warpwright::families::attention
