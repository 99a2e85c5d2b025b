// Encoding of requests, and faults from what Python answers.
#include "runner/torch/library/callback_host.h"
#include "support/model/json.h"
#include "support/model/plan_json.h"

namespace warpwright::runner {
namespace {

using nlohmann::json;

std::string
    answer; // of the request that is being served: there is one interpreter and one job thread

json to_json(const TensorArgument &tensor) {
  return {{"address", tensor.address},
          {"dtype", model::name(tensor.dtype)},
          {"shape", tensor.shape},
          {"strides", tensor.strides},
          {"name", tensor.name}};
}

json to_json(const std::vector<TensorArgument> &tensors) {
  json list = json::array();
  for (const TensorArgument &tensor : tensors)
    list.push_back(to_json(tensor));
  return list;
}

Fault::Kind kind_of(const std::string &name) {
  using Kind = Fault::Kind;
  for (const auto &[known, kind] :
       {std::pair{"unsupported", Kind::Unsupported}, std::pair{"out_of_memory", Kind::OutOfMemory},
        std::pair{"crash", Kind::Crash}, std::pair{"timeout", Kind::Timeout},
        std::pair{"bad_launch", Kind::BadLaunch}})
    if (name == known)
      return kind;
  return Kind::Internal;
}

} // namespace

void CallbackHost::take_answer(const char *text, std::size_t size) { answer.assign(text, size); }

Result<std::unique_ptr<CallbackHost>> CallbackHost::make(const warpwright_callbacks &callbacks) {
  std::unique_ptr<CallbackHost> host(new CallbackHost(callbacks));
  auto facts = host->request("facts", json::object());
  if (!facts)
    return fail(facts.error().message);
  host->facts_ = std::move(*facts);
  return host;
}

DeviceResult<json> CallbackHost::request(const char *method, const json &parameters) const {
  answer.clear();
  const std::string text = parameters.dump(-1, ' ', false, json::error_handler_t::replace);
  const bool done = callbacks_.request(method, text.c_str()) == 0;
  json document = answer.empty() ? json() : json::parse(answer, nullptr, false);
  if (done && !document.is_discarded())
    return document;
  if (!document.is_object())
    return fault(Fault::Kind::Internal,
                 std::string("Python failed in ") + method + "; its stderr says how");
  const Fault::Kind kind = kind_of(document.value("kind", ""));
  return fault(
      kind, document.value("message", "Python gave no reason"),
      document.value("device_lost", kind == Fault::Kind::Crash || kind == Fault::Kind::Timeout));
}

DeviceResult<void> CallbackHost::order(const char *method, const json &parameters) const {
  if (auto done = request(method, parameters); !done)
    return std::unexpected(done.error());
  return {};
}

std::map<std::string, std::string> CallbackHost::framework() {
  const auto facts = request("facts", json::object());
  return facts ? facts->get<std::map<std::string, std::string>>()
               : std::map<std::string, std::string>{};
}

DeviceResult<void> CallbackHost::load(const model::TorchModule &module) {
  return order("load", {{"spec",
                         {{"language", module.language},
                          {"source", module.source},
                          {"model", module.model},
                          {"inputs", module.inputs},
                          {"init_inputs", module.init_inputs},
                          {"training", module.training}}}});
}

DeviceResult<void> CallbackHost::draw(const TorchSeeds &seeds, double scale,
                                      const std::vector<TensorArgument> &in_and_inout) {
  return order("draw", {{"seeds", {seeds.inputs, seeds.parameters, seeds.vary}},
                        {"scale", scale},
                        {"arguments", to_json(in_and_inout)}});
}

DeviceResult<CallHandle> CallbackHost::bind_module(const model::ModuleStep &step,
                                                   const std::vector<TensorArgument> &in_and_inout,
                                                   const std::vector<TensorArgument> &outputs,
                                                   bool exact) {
  auto call = request("bind_module", {{"compiled", step.compiled},
                                      {"arguments", to_json(in_and_inout)},
                                      {"outputs", to_json(outputs)},
                                      {"exact", exact}});
  if (!call)
    return std::unexpected(call.error());
  return call->get<CallHandle>();
}

DeviceResult<CallHandle> CallbackHost::bind_operator(const model::AtenStep &step,
                                                     const std::vector<TensorArgument> &tensors) {
  auto call =
      request("bind_operator", {{"step", model::to_json(step)}, {"tensors", to_json(tensors)}});
  if (!call)
    return std::unexpected(call.error());
  return call->get<CallHandle>();
}

void CallbackHost::forget(CallHandle call) { (void)order("forget", {{"handle", call}}); }

DeviceResult<void> CallbackHost::refresh(CallHandle call) {
  return order("refresh", {{"handle", call}});
}

DeviceResult<void> CallbackHost::call(CallHandle call) { return order("call", {{"handle", call}}); }

DeviceResult<std::vector<Address>> CallbackHost::results(CallHandle call) {
  auto addresses = request("results", {{"handle", call}});
  if (!addresses)
    return std::unexpected(addresses.error());
  return addresses->get<std::vector<Address>>();
}

DeviceResult<void> CallbackHost::publish(CallHandle call) {
  return order("publish", {{"handle", call}});
}

DeviceResult<void> CallbackHost::use_stream(int ordinal, std::uint64_t stream) {
  return order("use_stream", {{"ordinal", ordinal}, {"stream", stream}});
}

void CallbackHost::start_job() { (void)order("start_job", json::object()); }

bool CallbackHost::release_memory() { return order("release_memory", json::object()).has_value(); }

DeviceResult<void> CallbackHost::begin_unpublished() {
  return order("begin_unpublished", json::object());
}
DeviceResult<void> CallbackHost::end_unpublished() {
  return order("end_unpublished", json::object());
}

DeviceResult<std::int64_t> CallbackHost::begin_capture() {
  auto graph = request("begin_capture", json::object());
  if (!graph)
    return std::unexpected(graph.error());
  return graph->get<std::int64_t>();
}

DeviceResult<void> CallbackHost::end_capture(std::int64_t graph, bool keep) {
  return order("end_capture", {{"graph", graph}, {"keep", keep}});
}

DeviceResult<void> CallbackHost::replay(std::int64_t graph) {
  return order("replay", {{"graph", graph}});
}

DeviceResult<void> CallbackHost::publish_graph(std::int64_t graph) {
  return order("publish_graph", {{"graph", graph}});
}

void CallbackHost::forget_graph(std::int64_t graph) {
  (void)order("forget_graph", {{"graph", graph}});
}

DeviceResult<std::int64_t> CallbackHost::make_call(const cuda::CallProgram &program) {
  json steps = json::array();
  for (const cuda::CallStep &step : program.steps)
    steps.push_back({{"group", step.group}, {"call", step.call}});
  auto call = request("make_call", {{"module", program.module},
                                    {"steps", steps},
                                    {"executor", program.executor},
                                    {"arguments", to_json(program.frame.arguments)},
                                    {"outputs", to_json(program.frame.outputs)},
                                    {"temporaries", to_json(program.frame.temporaries)}});
  if (!call)
    return std::unexpected(call.error());
  return call->get<std::int64_t>();
}

DeviceResult<double> CallbackHost::time_call(std::int64_t call, std::chrono::nanoseconds limit) {
  auto ns = request("time_call", {{"call", call}, {"limit_ns", limit.count()}});
  if (!ns)
    return std::unexpected(ns.error());
  return ns->get<double>();
}

DeviceResult<void> CallbackHost::publish_call(std::int64_t call) {
  return order("publish_call", {{"call", call}});
}

void CallbackHost::forget_call(std::int64_t call) { (void)order("forget_call", {{"call", call}}); }

} // namespace warpwright::runner
