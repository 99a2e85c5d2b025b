#include "runner/torch/requests.h"
#include "support/model/json.h"
#include "support/model/plan_json.h"

namespace warpwright::runner::requests {

using nlohmann::json;

json tensors(const std::vector<TensorArgument> &tensors,
             const std::function<std::uint64_t(Address)> &place_of) {
  json list = json::array();
  for (const TensorArgument &tensor : tensors)
    list.push_back({{"address", tensor.address == 0 ? 0 : place_of(tensor.address)},
                    {"dtype", model::name(tensor.dtype)},
                    {"shape", tensor.shape},
                    {"strides", tensor.strides},
                    {"name", tensor.name}});
  return list;
}

json load(const model::TorchModule &module) { return {{"spec", model::to_json(module)}}; }

json draw(const TorchSeeds &seeds, double scale, json arguments) {
  return {{"seeds", {seeds.inputs, seeds.parameters, seeds.vary, seeds.on_host}},
          {"scale", scale},
          {"arguments", std::move(arguments)}};
}

json bind_module(const model::ModuleStep &step, json arguments, json outputs, bool exact) {
  return {{"compiled", step.compiled},
          {"arguments", std::move(arguments)},
          {"outputs", std::move(outputs)},
          {"exact", exact}};
}

json bind_candidate(const model::ModuleStep &step, json arguments, json outputs) {
  return {{"source", step.source},
          {"model", step.model},
          {"arguments", std::move(arguments)},
          {"outputs", std::move(outputs)}};
}

json bind_operator(const model::AtenStep &step, json tensors) {
  return {{"step", model::to_json(step)}, {"tensors", std::move(tensors)}};
}

json of_call(CallHandle call) { return {{"handle", call}}; }

Fault::Kind fault_kind(const std::string &name) {
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

DeviceResult<CallHandle> handle(const DeviceResult<json> &answer) {
  if (!answer)
    return std::unexpected(answer.error());
  return answer->get<CallHandle>();
}

} // namespace warpwright::runner::requests
