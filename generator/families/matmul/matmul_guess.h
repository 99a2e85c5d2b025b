// Configurations of the matmul family for a problem, ordered by a time model.
#pragma once

#include "generator/families/matmul/matmul_problem.h"

namespace warpwright::families::matmul {

/// Between one and `most` configurations, the fastest by estimate first, at most half of them of one algorithm.
/// Tensor-core algorithms are included only where the device and the dtype allow them.
std::vector<elements::Configuration> matmul_configurations(const MatmulProblem &problem,
                                                           const elements::DeviceFacts &device,
                                                           std::size_t most = 12);

/// Microseconds that the first of them takes by estimate.
double matmul_microseconds(const MatmulProblem &problem, const elements::DeviceFacts &device);

} // namespace warpwright::families::matmul
