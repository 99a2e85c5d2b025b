// The builtin policy over plans of a traced module: the moves of generator/search/plan_walk.h, proposed to the search of torch modules.
//
// Where it has nothing new, or cannot go on, the search's own policy proposes instead, and that is said. Language models are not asked about
// modules.
#pragma once

#include "server/optimize/torch_optimizer.h"
#include "trainer/inference/plain_network.h"

namespace warpwright::server {

/// @param search goes on where the policy ends @param told gets what is to be said; outlives the result
std::unique_ptr<search::TorchPolicy> make_module_policy(const trainer::PlainPolicy &policy,
                                                        const TorchTask &task,
                                                        const model::DeviceInfo &device,
                                                        std::unique_ptr<search::TorchPolicy> search,
                                                        ModulePolicy &told);

} // namespace warpwright::server
