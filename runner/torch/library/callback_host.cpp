// Encoding of requests, and faults from what Python answers.
#include "runner/torch/library/callback_host.h"
#include "runner/torch/requests.h"

namespace warpwright::runner {
namespace {

using nlohmann::json;

std::string
    answer; // of the request that is being served: there is one interpreter and one job thread

/// Python shares the address space.
json tensors(const std::vector<TensorArgument> &all) {
  return requests::tensors(all, [](Address address) { return address; });
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
  const Fault::Kind kind = requests::fault_kind(document.value("kind", ""));
  ran_out_of_memory_ |= kind == Fault::Kind::OutOfMemory;
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
  return order("load", requests::load(module));
}

DeviceResult<void> CallbackHost::draw(const TorchSeeds &seeds, double scale,
                                      const std::vector<TensorArgument> &in_and_inout) {
  return order("draw", requests::draw(seeds, scale, tensors(in_and_inout)));
}

DeviceResult<CallHandle> CallbackHost::bind_module(const model::ModuleStep &step,
                                                   const std::vector<TensorArgument> &in_and_inout,
                                                   const std::vector<TensorArgument> &outputs,
                                                   bool exact) {
  if (!step.source.empty())
    return requests::handle(request(
        "bind_candidate", requests::bind_candidate(step, tensors(in_and_inout), tensors(outputs))));
  return requests::handle(request(
      "bind_module", requests::bind_module(step, tensors(in_and_inout), tensors(outputs), exact)));
}

DeviceResult<CallHandle> CallbackHost::bind_operator(const model::AtenStep &step,
                                                     const std::vector<TensorArgument> &arguments) {
  return requests::handle(
      request("bind_operator", requests::bind_operator(step, tensors(arguments))));
}

DeviceResult<std::size_t> CallbackHost::input_count() {
  auto count = request("input_count", json::object());
  if (!count)
    return std::unexpected(count.error());
  return count->get<std::size_t>();
}

void CallbackHost::forget(CallHandle call) { (void)order("forget", requests::of_call(call)); }

DeviceResult<void> CallbackHost::refresh(CallHandle call) {
  return order("refresh", requests::of_call(call));
}

DeviceResult<void> CallbackHost::call(CallHandle call) {
  return order("call", requests::of_call(call));
}

DeviceResult<std::vector<Address>> CallbackHost::results(CallHandle call) {
  auto addresses = request("results", requests::of_call(call));
  if (!addresses)
    return std::unexpected(addresses.error());
  return addresses->get<std::vector<Address>>();
}

DeviceResult<void> CallbackHost::publish(CallHandle call) {
  return order("publish", requests::of_call(call));
}

DeviceResult<void> CallbackHost::use_stream(int ordinal, std::uint64_t stream) {
  return order("use_stream", {{"ordinal", ordinal}, {"stream", stream}});
}

void CallbackHost::start_job() {
  ran_out_of_memory_ = false;
  (void)order("start_job", json::object());
}

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
                                    {"arguments", tensors(program.frame.arguments)},
                                    {"outputs", tensors(program.frame.outputs)},
                                    {"temporaries", tensors(program.frame.temporaries)}});
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

DeviceResult<void> CallbackHost::warm_call(std::int64_t call) {
  return order("warm_call", {{"call", call}});
}

DeviceResult<void> CallbackHost::publish_call(std::int64_t call) {
  return order("publish_call", {{"call", call}});
}

void CallbackHost::forget_call(std::int64_t call) { (void)order("forget_call", {{"call", call}}); }

DeviceResult<std::string> CallbackHost::record_candidate(CallHandle call) {
  auto why = request("record_candidate", requests::of_call(call));
  if (!why)
    return std::unexpected(why.error());
  return why->get<std::string>();
}

DeviceResult<cuda::ForeignSample> CallbackHost::time_candidate(CallHandle call, bool as_called) {
  auto sample = request("time_candidate", {{"handle", call}, {"as_called", as_called}});
  if (!sample)
    return std::unexpected(sample.error());
  return cuda::ForeignSample{sample->at("ns"), sample->at("throttled")};
}

} // namespace warpwright::runner
