// Attention on Hopper's tensor cores; see device/attention_wgmma.cuh.
#pragma once

#include "generator/families/attention/attention_problem.h"

#include <vector>

namespace warpwright::families::attention {

/// True if the configuration is one of wgmma_guesses().
bool is_wgmma(const elements::Configuration &configuration);

/// Configurations for a device with wgmma whose operands tensor maps describe, each with its estimated time.
std::vector<Guess> wgmma_guesses(const AttentionProblem &problem,
                                 const elements::DeviceFacts &device);

/// Errors: settings out of range, tiles for which the device has too little, operands that no tensor map describes.
Result<elements::Lowering> lower_wgmma(const ops::GraphIndex &graph, const elements::Region &region,
                                       const AttentionProblem &problem,
                                       const elements::Configuration &configuration,
                                       const elements::DeviceFacts &device,
                                       const std::string &prefix);

} // namespace warpwright::families::attention
