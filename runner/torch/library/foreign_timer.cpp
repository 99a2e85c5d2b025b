#include "runner/torch/library/foreign_timer.h"
#include "runner/torch/library/library_device.h"

namespace warpwright::runner {
namespace {

using nlohmann::json;

json failed_by(const Fault &fault) {
  using Kind = Fault::Kind;
  const char *kind = fault.kind == Kind::OutOfMemory   ? "out_of_memory"
                     : fault.kind == Kind::Timeout     ? "timeout"
                     : fault.kind == Kind::BadLaunch   ? "bad_launch"
                     : fault.kind == Kind::Suspected   ? "suspected"
                     : fault.kind == Kind::Unsupported ? "unsupported"
                                                       : "crash";
  return ForeignTimer::failed(kind, fault.message);
}

} // namespace

json ForeignTimer::failed(const std::string &kind, const std::string &message) {
  return {{"error", {{"kind", kind}, {"message", message}}}};
}

json ForeignTimer::answer(const json &request, const warpwright_callbacks &callbacks) {
  const std::string method = request.at("method");
  if (method == "open")
    return open(request.at("device"), callbacks);
  if (!device_)
    return failed("internal", "the timer was not opened");
  if (method == "record")
    return record(request.at("call"));
  if (method == "time")
    return time(request.at("recording"), request.at("as_called"));
  if (method == "forget")
    recordings_.erase(request.at("recording").get<std::int64_t>());
  return {{"result", nullptr}};
}

json ForeignTimer::open(const std::string &device, const warpwright_callbacks &callbacks) {
  auto torch = cuda::CudaTorch::make(callbacks.request);
  if (!torch)
    return failed("internal", describe(torch.error()));
  torch_ = std::move(*torch);
  auto made = make_library_device(device, *torch_);
  if (!made)
    return failed("unsupported", describe(made.error()));
  device_ = std::move(*made);
  return {{"result", nullptr}};
}

json ForeignTimer::record(CallHandle call) {
  const Operation operation = TorchOperation{.call = std::make_shared<const CallHandle>(call),
                                             .is_module = true,
                                             .name = "the candidate's module"};
  auto recording = device_->record_module({&operation, 1}, {});
  if (!recording)
    return failed_by(recording.error());
  const std::string why = (*recording)->why_no_device_time();
  recordings_[next_] = std::move(*recording);
  return {{"result", {{"recording", next_++}, {"why", why}}}};
}

json ForeignTimer::time(std::int64_t recording, bool as_called) {
  const auto found = recordings_.find(recording);
  if (found == recordings_.end())
    return failed("internal", "no such recording");
  auto sample = as_called ? device_->time_call(*found->second) : device_->time(*found->second);
  if (!sample)
    return failed_by(sample.error());
  return {{"result", {{"ns", sample->ns}, {"throttled", sample->throttled}}}};
}

} // namespace warpwright::runner
