// Configurations of the matmul family for a problem, in the order of a small model of their time.
// Thread: pure functions.
#pragma once

#include "generator/families/matmul/matmul_problem.h"

namespace warpwright::families::matmul {

/// At least one and at most `most`, half of them of one algorithm, the quickest first by the model; tensor-core algorithms only where the
/// device and the dtype allow them.
std::vector<elements::Configuration> matmul_configurations(const MatmulProblem &problem,
                                                           const elements::DeviceFacts &device,
                                                           std::size_t most = 12);

} // namespace warpwright::families::matmul
