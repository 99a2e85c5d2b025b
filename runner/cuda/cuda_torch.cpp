// Implementation of CudaTorch: encoding of requests, and conversion of Python's answers to faults.
#include "runner/cuda/cuda_torch.h"

namespace warpwright::runner::cuda {

using nlohmann::json;

namespace {

/// Answer to the current request. It is global because there is one interpreter and one job thread.
std::string answer;

} // namespace

void CudaTorch::take_answer(const char *text, std::size_t size) { answer.assign(text, size); }

Result<std::unique_ptr<CudaTorch>> CudaTorch::make(Request request) {
  std::unique_ptr<CudaTorch> host(new CudaTorch(request));
  auto facts = host->request("facts", json::object());
  if (!facts)
    return fail(facts.error().message);
  host->facts_ = std::move(*facts);
  return host;
}

DeviceResult<json> CudaTorch::request(const std::string &method, const json &parameters) {
  answer.clear();
  const std::string text = parameters.dump(-1, ' ', false, json::error_handler_t::replace);
  const bool done = request_(method.c_str(), text.c_str()) == 0;
  json document = answer.empty() ? json() : json::parse(answer, nullptr, false);
  if (done && !document.is_discarded())
    return document;
  if (!document.is_object())
    return fault(Fault::Kind::Internal, "Python failed in " + method + "; see its stderr");
  const Fault::Kind kind = fault_kind(document.value("kind", ""));
  ran_out_of_memory_ |= kind == Fault::Kind::OutOfMemory;
  return fault(
      kind, document.value("message", "Python gave no reason"),
      document.value("device_lost", kind == Fault::Kind::Crash || kind == Fault::Kind::Timeout));
}

std::map<std::string, std::string> CudaTorch::framework() {
  return ask<std::map<std::string, std::string>>("facts").value_or(
      std::map<std::string, std::string>{});
}

DeviceResult<void> CudaTorch::use_stream(int ordinal, std::uint64_t stream) {
  return order("use_stream", {{"ordinal", ordinal}, {"stream", stream}});
}

void CudaTorch::start_job() {
  ran_out_of_memory_ = false;
  (void)order("start_job");
}

bool CudaTorch::release_memory() { return order("release_memory").has_value(); }
DeviceResult<void> CudaTorch::begin_unpublished() { return order("begin_unpublished"); }
DeviceResult<void> CudaTorch::end_unpublished() { return order("end_unpublished"); }
DeviceResult<std::int64_t> CudaTorch::begin_capture() { return ask<std::int64_t>("begin_capture"); }
DeviceResult<void> CudaTorch::end_capture(std::int64_t graph, bool keep) {
  return order("end_capture", {{"graph", graph}, {"keep", keep}});
}
DeviceResult<void> CudaTorch::replay(std::int64_t graph) {
  return order("replay", {{"graph", graph}});
}
DeviceResult<void> CudaTorch::publish_graph(std::int64_t graph) {
  return order("publish_graph", {{"graph", graph}});
}
void CudaTorch::forget_graph(std::int64_t graph) {
  (void)order("forget_graph", {{"graph", graph}});
}

DeviceResult<std::int64_t> CudaTorch::make_call(const CallProgram &program) {
  json steps = json::array();
  for (const CallStep &step : program.steps)
    steps.push_back({{"group", step.group}, {"call", step.call}});
  return ask<std::int64_t>("make_call", {{"module", program.module},
                                         {"steps", steps},
                                         {"executor", program.executor},
                                         {"arguments", tensors(program.frame.arguments)},
                                         {"outputs", tensors(program.frame.outputs)},
                                         {"temporaries", tensors(program.frame.temporaries)}});
}

DeviceResult<double> CudaTorch::time_call(std::int64_t call, std::chrono::nanoseconds limit) {
  return ask<double>("time_call", {{"call", call}, {"limit_ns", limit.count()}});
}
DeviceResult<void> CudaTorch::warm_call(std::int64_t call) {
  return order("warm_call", {{"call", call}});
}
DeviceResult<void> CudaTorch::publish_call(std::int64_t call) {
  return order("publish_call", {{"call", call}});
}
void CudaTorch::forget_call(std::int64_t call) { (void)order("forget_call", {{"call", call}}); }

DeviceResult<std::string> CudaTorch::record_candidate(CallHandle call) {
  return ask<std::string>("record_candidate", {{"handle", call}});
}
DeviceResult<ForeignSample> CudaTorch::time_candidate(CallHandle call, bool as_called) {
  const auto sample = TRY(request("time_candidate", {{"handle", call}, {"as_called", as_called}}));
  return ForeignSample{sample.at("ns"), sample.at("throttled")};
}

} // namespace warpwright::runner::cuda
