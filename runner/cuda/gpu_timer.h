// Timer of one CUDA graph on a GPU, with a cold L2 cache, without host jitter, and with marks on
// throttled samples.
//
// The measured interval contains the plan's kernels and memsets as graph nodes, and the gaps
// between the nodes. The two time stamps are event nodes of the same graph, so the interval does
// not contain the graph launch. Queue of one sample: [L2 flush, see l2_flush.h] [delay kernel]
// [graph: stamp, plan, stamp]. The delay keeps the GPU busy until the host has queued the graph.
// Nothing is subtracted from samples. Each process measures at its start, by the same queue with
// the probe kernel, how much two stamps add to the time of a kernel. Reports can then also give the
// kernel's own time.
//
// When the stop event is recorded, no work of the plan remains. Device code cannot start kernels:
// that needs cudadevrt, with which NVRTC's whole-program cubins cannot be linked
// (tests/runner/nvrtc_test.cpp tests this). Device code has no other streams, and its stores are
// visible at the end of the grid. Thread: the job thread.
#pragma once

#include "runner/cuda/compiler.h"
#include "runner/cuda/handles.h"
#include "runner/cuda/l2_flush.h"
#include "runner/cuda/throttle_monitor.h"

#include <functional>

namespace warpwright::runner::cuda {

inline constexpr int kCaptureRelaxed = 2; ///< CU_STREAM_CAPTURE_MODE_RELAXED

/// Executable graph of a plan between two event nodes.
struct TimedGraph {
  Event start, stop;
  GraphExec executable;
};

class GpuTimer {
public:
  static DeviceResult<std::unique_ptr<GpuTimer>>
  make(const Driver &driver, CUstream stream, Compiler &compiler, const model::DeviceInfo &device);

  /// Captures the work that `enqueue` puts on the stream as a graph. Nothing runs.
  DeviceResult<TimedGraph> capture(int mode, const std::function<void()> &enqueue);
  /// Queues one sample without waiting for it.
  DeviceResult<void> start(const TimedGraph &graph);
  /// Queues the flush and the delay of one sample, for a graph that the caller launches.
  DeviceResult<void> start_before();
  /// Reads the sample of a graph. Call when the stream is idle.
  DeviceResult<Sample> read(const TimedGraph &graph) {
    return read(graph.start.get(), graph.stop.get());
  }
  DeviceResult<Sample> read(CUevent start, CUevent stop);
  /// See Device::set_thorough_flush().
  void set_thorough_flush(bool thorough) { thorough_flush_ = thorough; }
  /// Queues only the L2 flush.
  DeviceResult<void> flush();
  /// A sample with this time and the current clock readings.
  Sample sample_of(double ns);
  /// The time in ns that two stamps add to the kernel between them, from many samples. Waits for
  /// the stream.
  /// @param probe_ns duration of the probe kernel; if absent, the result is the time between two
  ///        stamps with nothing between them, which is less
  std::optional<double> measure_bracket(std::optional<double> probe_ns);
  /// A graph of the probe kernel, for timing like any other graph. Calls rotate through several
  /// graphs, which are recaptured from time to time. nullptr if the capture fails.
  const TimedGraph *next_probe();
  /// The driver's version, such as "580.159.04"; empty without NVML.
  const std::string &driver_version() const { return throttle_.driver_version(); }

private:
  GpuTimer(const Driver &driver, CUstream stream, const model::DeviceInfo &device)
      : driver_(driver), stream_(stream), throttle_(device.identifier) {}

  DeviceResult<void> check(Status status, const std::string &what) const;

  DeviceResult<CUfunction> load(Compiler &compiler, const char *source, const char *kernel,
                                Module &module);
  /// Time between the stamps in ns, from many samples, with the given kernel or nothing (nullptr)
  /// between them. nullopt if the device fails.
  std::optional<double> time_often(CUfunction probe);
  /// Appends samples of each graph. @return false if the device failed
  bool time_in_turn(const std::vector<TimedGraph> &graphs, std::vector<double> &samples);
  /// Several graphs of one kernel, or of nothing (nullptr). nullopt if the device fails.
  std::optional<std::vector<TimedGraph>> capture_in_turn(CUfunction probe);

  const Driver &driver_;
  CUstream stream_;
  L2Flush flush_;
  bool thorough_flush_ = false;
  Module delay_module_, probe_module_;
  CUfunction delay_ = nullptr, probe_ = nullptr;
  Memory probe_memory_;
  std::vector<TimedGraph> probes_;
  std::size_t probe_runs_ = 0; ///< number of runs of the current probes_
  ThrottleMonitor throttle_;
};

} // namespace warpwright::runner::cuda
