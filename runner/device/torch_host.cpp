// Requests of TorchHost: their parameters, and the kinds of faults.
#include "runner/device/torch_host.h"
#include "support/model/json.h"
#include "support/model/plan_json.h"

namespace warpwright::runner {

using nlohmann::json;

json TorchHost::tensors(const std::vector<TensorArgument> &all) const {
  json list = json::array();
  for (const TensorArgument &tensor : all)
    list.push_back({{"address", tensor.address == 0 ? 0 : place_of(tensor.address)},
                    {"dtype", model::name(tensor.dtype)},
                    {"shape", tensor.shape},
                    {"strides", tensor.strides},
                    {"name", tensor.name}});
  return list;
}

Fault::Kind TorchHost::fault_kind(const std::string &name) {
  using Kind = Fault::Kind;
  for (const auto &[known, kind] :
       {std::pair{"unsupported", Kind::Unsupported}, std::pair{"out_of_memory", Kind::OutOfMemory},
        std::pair{"crash", Kind::Crash}, std::pair{"timeout", Kind::Timeout},
        std::pair{"bad_launch", Kind::BadLaunch}, std::pair{"compile_failed", Kind::CompileFailed},
        std::pair{"suspected", Kind::Suspected}})
    if (name == known)
      return kind;
  return Kind::Internal;
}

DeviceResult<void> TorchHost::order(const std::string &method, const json &parameters) {
  TRY(request(method, parameters));
  return {};
}

DeviceResult<void> TorchHost::load(const model::TorchModule &module) {
  TRY(make_ready());
  return order("load", {{"spec", model::to_json(module)}});
}

DeviceResult<void> TorchHost::draw(const TorchSeeds &seeds, double scale,
                                   const std::vector<TensorArgument> &in_and_inout) {
  return order("draw", {{"seeds", {seeds.inputs, seeds.parameters, seeds.vary, seeds.on_host}},
                        {"scale", scale},
                        {"arguments", tensors(in_and_inout)}});
}

DeviceResult<CallHandle> TorchHost::bind_module(const model::ModuleStep &step,
                                                const std::vector<TensorArgument> &in_and_inout,
                                                const std::vector<TensorArgument> &outputs,
                                                bool exact) {
  json parameters = {{"arguments", tensors(in_and_inout)}, {"outputs", tensors(outputs)}};
  if (!step.source.empty()) {
    parameters["source"] = step.source;
    parameters["model"] = step.model;
    parameters["exported"] = step.exported;
    parameters["files"] = step.files;
    return ask<CallHandle>("bind_candidate", parameters);
  }
  parameters["compiled"] = !step.compiled ? "" : step.mode.empty() ? "default" : step.mode;
  parameters["exact"] = exact;
  return ask<CallHandle>("bind_module", parameters);
}

DeviceResult<CallHandle> TorchHost::bind_operator(const model::AtenStep &step,
                                                  const std::vector<TensorArgument> &views) {
  TRY(make_ready());
  return ask<CallHandle>("bind_operator",
                         {{"step", model::to_json(step)}, {"tensors", tensors(views)}});
}

DeviceResult<KernelCalls> TorchHost::kernel_calls() {
  const auto counts = TRY(request("kernel_calls", json::object()));
  return KernelCalls{counts.at("runs").get<std::int64_t>(),
                     counts.at("fallbacks").get<std::map<std::string, std::int64_t>>()};
}

DeviceResult<std::size_t> TorchHost::input_count() { return ask<std::size_t>("input_count"); }
void TorchHost::forget(CallHandle call) { (void)order("forget", {{"handle", call}}); }
DeviceResult<void> TorchHost::refresh(CallHandle call) {
  return order("refresh", {{"handle", call}});
}
DeviceResult<void> TorchHost::call(CallHandle call) { return order("call", {{"handle", call}}); }
DeviceResult<std::vector<Address>> TorchHost::results(CallHandle call) {
  return ask<std::vector<Address>>("results", {{"handle", call}});
}
DeviceResult<void> TorchHost::publish(CallHandle call) {
  return order("publish", {{"handle", call}});
}

} // namespace warpwright::runner
