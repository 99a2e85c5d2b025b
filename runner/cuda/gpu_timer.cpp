// Implementation of GpuTimer: the queue of one sample, and the capture of graphs with time stamps.
#include "runner/cuda/gpu_timer.h"
#include "runner/cuda/probe.h"
#include "runner/measure/median_interval.h"

#include <chrono>

namespace warpwright::runner::cuda {
namespace {

constexpr unsigned kEventRecordExternal =
    1; ///< CU_EVENT_RECORD_EXTERNAL: an event node in a captured graph
/// Duration of the delay kernel. The host launches a graph of a few nodes in less than 10 us, and
/// the preceding L2 flush already covers most of that time.
constexpr unsigned long long kDelayNs = 20'000;
/// Number of rounds, each with newly captured graphs, because the location of a graph in memory
/// shifts its samples by up to 100 ns.
constexpr int kBracketRounds = 8;
constexpr std::size_t kRunsAGraph = 10;
/// Number of graphs timed in turn, as many as in a session (two sides, three input sets). The
/// number matters because the graph that was launched last starts sooner.
constexpr std::size_t kGraphsInTurn = 6;
/// Time that an idle GPU needs to raise its clocks once it gets work. Earlier samples are too long.
constexpr std::chrono::milliseconds kClockRise{60};

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
  timer->delay_ = TRY(timer->load(compiler, kDelaySource, "ww_delay", timer->delay_module_));
  timer->probe_ = TRY(timer->load(compiler, kProbeSource, kProbeKernel, timer->probe_module_));
  timer->flush_ = TRY(L2Flush::make(driver, compiler, device));
  return timer;
}

DeviceResult<CUfunction> GpuTimer::load(Compiler &compiler, const char *source, const char *kernel,
                                        Module &module) {
  auto output = TRY(compiler.compile({source, {}, {kernel}}));
  CUmodule loaded = nullptr;
  TRY(check(driver_.cuModuleLoadData(&loaded, output.code.cubin.data()),
            std::string("loading ") + kernel));
  module = Module(driver_, loaded);
  CUfunction function = nullptr;
  TRY(check(driver_.cuModuleGetFunction(&function, loaded, kernel),
            std::string("finding ") + kernel));
  return function;
}

DeviceResult<TimedGraph> GpuTimer::capture(int mode, const std::function<void()> &enqueue) {
  TimedGraph timed{make_event(driver_), make_event(driver_), {}};
  if (!timed.start || !timed.stop)
    return fault(Fault::Kind::Internal, "cannot make events");
  TRY(check(driver_.cuStreamBeginCapture(stream_, mode), "recording a graph"));
  const Status first =
      driver_.cuEventRecordWithFlags(timed.start.get(), stream_, kEventRecordExternal);
  enqueue();
  const Status second =
      driver_.cuEventRecordWithFlags(timed.stop.get(), stream_, kEventRecordExternal);
  CUgraph captured = nullptr;
  const Status ended = driver_.cuStreamEndCapture(stream_, &captured);
  const Graph graph(driver_, captured);
  for (const Status status : {first, second, ended})
    TRY(check(status, "recording a graph"));
  CUgraphExec executable = nullptr;
  TRY(check(driver_.cuGraphInstantiate(&executable, graph.get(), 0), "instantiating a graph"));
  timed.executable = GraphExec(driver_, executable);
  return timed;
}

DeviceResult<void> GpuTimer::flush() {
  return check(flush_.run(driver_, stream_, thorough_flush_), "flushing the L2 cache");
}

DeviceResult<void> GpuTimer::start_before() {
  TRY(flush());
  unsigned long long delay_ns = kDelayNs;
  void *arguments[] = {&delay_ns};
  return check(driver_.cuLaunchKernel(delay_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr),
               "the delay kernel");
}

DeviceResult<void> GpuTimer::start(const TimedGraph &graph) {
  TRY(start_before());
  return check(driver_.cuGraphLaunch(graph.executable.get(), stream_), "launching a graph");
}

DeviceResult<Sample> GpuTimer::read(CUevent start, CUevent stop) {
  float milliseconds = 0;
  TRY(check(driver_.cuEventElapsedTime(&milliseconds, start, stop), "reading the time"));
  return sample_of(static_cast<double>(milliseconds) * 1e6);
}

Sample GpuTimer::sample_of(double ns) {
  throttle_.refresh();
  return {ns, throttle_.is_throttled(), throttle_.clocks()};
}

bool GpuTimer::time_in_turn(const std::vector<TimedGraph> &graphs, std::vector<double> &samples) {
  for (std::size_t run = 0; run < kRunsAGraph * graphs.size(); ++run) {
    const TimedGraph &graph = graphs[run % graphs.size()];
    if (!start(graph))
      return false;
    Status status = kNotReady;
    while (status == kNotReady)
      status = driver_.cuStreamQuery(stream_);
    auto sample = status == 0 ? read(graph) : DeviceResult<Sample>(std::unexpected(Fault{}));
    if (!sample)
      return false;
    samples.push_back(sample->ns);
  }
  return true;
}

std::optional<double> GpuTimer::time_often(CUfunction probe) {
  using Clock = std::chrono::steady_clock;
  const auto warm_at = Clock::now() + kClockRise;
  std::vector<double> samples;
  for (int rounds = 0; rounds < kBracketRounds;) {
    const auto graphs = capture_in_turn(probe);
    if (!graphs || !time_in_turn(*graphs, samples))
      return std::nullopt;
    if (Clock::now() >= warm_at)
      ++rounds;
    else
      samples.clear();
  }
  return mean_of_middle_half(samples);
}

std::optional<std::vector<TimedGraph>> GpuTimer::capture_in_turn(CUfunction probe) {
  constexpr std::size_t kBytes = sizeof(float) * kProbeBlocks * kProbeThreads;
  CUdeviceptr from = probe_memory_.get();
  if (!from && driver_.cuMemAlloc(&from, 2 * kBytes) != 0)
    return std::nullopt;
  if (!probe_memory_.get())
    probe_memory_ = Memory(driver_, from);
  CUdeviceptr to = from + kBytes;
  std::vector<TimedGraph> graphs;
  for (std::size_t i = 0; i < kGraphsInTurn; ++i) {
    Status launched = 0;
    auto graph = capture(kCaptureRelaxed, [&] {
      void *arguments[] = {&from, &to};
      if (probe)
        launched = driver_.cuLaunchKernel(probe, kProbeBlocks, 1, 1, kProbeThreads, 1, 1, 0,
                                          stream_, arguments, nullptr);
    });
    if (!graph || launched != 0)
      return std::nullopt;
    graphs.push_back(std::move(*graph));
  }
  return graphs;
}

std::optional<double> GpuTimer::measure_bracket(std::optional<double> probe_ns) {
  const auto with_probe = time_often(probe_); // under CUPTI, these runs measure the probe itself
  if (probe_ns)
    return with_probe ? std::optional(*with_probe - *probe_ns) : std::nullopt;
  return time_often(nullptr);
}

const TimedGraph *GpuTimer::next_probe() {
  if (probes_.empty() || probe_runs_ == kRunsAGraph * probes_.size()) {
    auto graphs = capture_in_turn(probe_);
    if (!graphs)
      return nullptr;
    probes_ = std::move(*graphs);
    probe_runs_ = 0;
  }
  return &probes_[probe_runs_++ % probes_.size()];
}

DeviceResult<void> GpuTimer::check(Status status, const std::string &what) const {
  if (status == 0)
    return {};
  return std::unexpected(driver_.to_fault(status, what));
}

} // namespace warpwright::runner::cuda
