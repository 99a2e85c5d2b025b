// What both torch hosts ask Python, as JSON: parameters of the requests that runner/torch/python/module_host.py serves.
//
// The hosts differ in how a request gets there and in what an address is; this is the part that is the same. Thread: any.
#pragma once

#include "runner/device/torch_host.h"

namespace warpwright::runner::requests {

/// @param place_of what Python is told for an address that is not 0
nlohmann::json tensors(const std::vector<TensorArgument> &tensors,
                       const std::function<std::uint64_t(Address)> &place_of);
nlohmann::json load(const model::TorchModule &module);
/// @param arguments as tensors() makes them; so are the next
nlohmann::json draw(const TorchSeeds &seeds, double scale, nlohmann::json arguments);
nlohmann::json bind_module(const model::ModuleStep &step, nlohmann::json arguments,
                           nlohmann::json outputs, bool exact);
/// Of a step with a source of its own: method "bind_candidate".
nlohmann::json bind_candidate(const model::ModuleStep &step, nlohmann::json arguments,
                              nlohmann::json outputs);
nlohmann::json bind_operator(const model::AtenStep &step, nlohmann::json tensors);
nlohmann::json of_call(CallHandle call);

/// Of an error's kind in host_errors.py; Internal for any other word.
Fault::Kind fault_kind(const std::string &name);
/// The handle that an answer is.
DeviceResult<CallHandle> handle(const DeviceResult<nlohmann::json> &answer);

} // namespace warpwright::runner::requests
