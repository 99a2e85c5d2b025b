// Builtin policy for torch modules: proposes the moves of generator/search/plan_walk.h for plans of a traced module.
//
// When it has no new plan or fails, the search's own policy proposes instead, and the reason is reported. Language
// models are not asked about modules.
#pragma once

#include "server/optimize/torch_optimizer.h"
#include "trainer/inference/plain_network.h"

namespace warpwright::server {

/// @param search policy that continues after the builtin one @param told receives the reports; outlives the result
std::unique_ptr<search::TorchPolicy> make_module_policy(const trainer::PlainPolicy &policy,
                                                        const TorchTask &task,
                                                        const model::DeviceInfo &device,
                                                        std::unique_ptr<search::TorchPolicy> search,
                                                        ModulePolicy &told);

} // namespace warpwright::server
