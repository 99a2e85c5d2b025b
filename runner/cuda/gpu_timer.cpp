// The queue of one sample, and the graph that is stamped.
#include "runner/cuda/gpu_timer.h"

#include <algorithm>

namespace warpwright::runner::cuda {
namespace {

constexpr unsigned kEventRecordExternal =
    1; ///< CU_EVENT_RECORD_EXTERNAL: an event node in a captured graph
/// Launching a graph of a few nodes takes the host under 10 us; the L2 write before covers most of
/// it already.
constexpr unsigned long long kDelayNs = 20'000;
constexpr int kBracketSamples = 101;

constexpr const char *kDelaySource = R"(
extern "C" __global__ void ww_delay(unsigned long long ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < ns);
}
)";

} // namespace

DeviceResult<std::unique_ptr<GpuTimer>> GpuTimer::make(const Driver &driver, CUstream stream,
                                                       Compiler &compiler,
                                                       const model::DeviceInfo &device) {
  std::unique_ptr<GpuTimer> timer(new GpuTimer(driver, stream, device));
  auto output = compiler.compile({kDelaySource, {}, {"ww_delay"}});
  if (!output)
    return std::unexpected(output.error());
  CUmodule module = nullptr;
  if (auto loaded = timer->check(driver.cuModuleLoadData(&module, output->code.cubin.data()),
                                 "loading the delay kernel");
      !loaded)
    return std::unexpected(loaded.error());
  timer->delay_module_ = Module(driver, module);
  if (auto found = timer->check(driver.cuModuleGetFunction(&timer->delay_, module, "ww_delay"),
                                "finding the delay kernel");
      !found)
    return std::unexpected(found.error());
  auto flush = L2Flush::make(driver, device.l2_bytes);
  if (!flush)
    return std::unexpected(flush.error());
  timer->flush_ = std::move(*flush);
  return timer;
}

DeviceResult<TimedGraph> GpuTimer::capture(int mode, const std::function<void()> &enqueue) {
  TimedGraph timed{make_event(driver_), make_event(driver_), {}};
  if (!timed.start || !timed.stop)
    return fault(Fault::Kind::Internal, "cannot make events");
  if (auto begun = check(driver_.cuStreamBeginCapture(stream_, mode), "recording a graph"); !begun)
    return std::unexpected(begun.error());
  const Status first =
      driver_.cuEventRecordWithFlags(timed.start.get(), stream_, kEventRecordExternal);
  enqueue();
  const Status second =
      driver_.cuEventRecordWithFlags(timed.stop.get(), stream_, kEventRecordExternal);
  CUgraph captured = nullptr;
  const Status ended = driver_.cuStreamEndCapture(stream_, &captured);
  const Graph graph(driver_, captured);
  for (const Status status : {first, second, ended})
    if (auto passed = check(status, "recording a graph"); !passed)
      return std::unexpected(passed.error());
  CUgraphExec executable = nullptr;
  if (auto made =
          check(driver_.cuGraphInstantiate(&executable, graph.get(), 0), "instantiating a graph");
      !made)
    return std::unexpected(made.error());
  timed.executable = GraphExec(driver_, executable);
  return timed;
}

DeviceResult<void> GpuTimer::flush() {
  return check(flush_.run(driver_, stream_), "flushing the L2 cache");
}

DeviceResult<void> GpuTimer::start(const TimedGraph &graph) {
  if (auto flushed = flush(); !flushed)
    return flushed;
  unsigned long long delay_ns = kDelayNs;
  void *arguments[] = {&delay_ns};
  if (auto delayed =
          check(driver_.cuLaunchKernel(delay_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr),
                "the delay kernel");
      !delayed)
    return delayed;
  return check(driver_.cuGraphLaunch(graph.executable.get(), stream_), "launching a graph");
}

DeviceResult<Sample> GpuTimer::read(const TimedGraph &graph) {
  float milliseconds = 0;
  if (auto read =
          check(driver_.cuEventElapsedTime(&milliseconds, graph.start.get(), graph.stop.get()),
                "reading the time");
      !read)
    return std::unexpected(read.error());
  return sample_of(static_cast<double>(milliseconds) * 1e6);
}

Sample GpuTimer::sample_of(double ns) {
  throttle_.refresh();
  return {ns, throttle_.is_throttled(), throttle_.clocks()};
}

std::optional<double> GpuTimer::measure_bracket() {
  auto empty = capture(kCaptureRelaxed, [] {});
  if (!empty)
    return std::nullopt;
  std::vector<double> samples;
  for (int i = 0; i < kBracketSamples; ++i) {
    if (!start(*empty))
      return std::nullopt;
    Status status = kNotReady;
    while (status == kNotReady)
      status = driver_.cuStreamQuery(stream_);
    auto sample = status == 0 ? read(*empty) : DeviceResult<Sample>(std::unexpected(Fault{}));
    if (!sample)
      return std::nullopt;
    samples.push_back(sample->ns);
  }
  const auto middle = samples.begin() + kBracketSamples / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

DeviceResult<void> GpuTimer::check(Status status, const std::string &what) const {
  if (status == 0)
    return {};
  return std::unexpected(driver_.to_fault(status, what));
}

} // namespace warpwright::runner::cuda
