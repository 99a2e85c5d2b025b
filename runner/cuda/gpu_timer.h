// Times one CUDA graph on a GPU: cold L2, host jitter kept out, throttled samples marked.
//
// What lies between the two time stamps: the plan's kernels and memsets as graph nodes, and the
// graph's own node-to-node gaps; the stamps are event nodes of the same graph, so launching the
// graph is not in it. Queue of one sample: [flush of the L2, see l2_flush.h] [delay kernel] [graph: stamp, plan, stamp]. The delay keeps the GPU busy until the host has queued the
// graph. Nothing is subtracted from samples; what the two stamps cost beyond a kernel is measured at the
// start of each process, by the same queue with the probe kernel, so that a kernel's own time can be told beside.
//
// When the stop event was recorded nothing of the plan is left: device code cannot start kernels (that
// needs cudadevrt, which NVRTC's whole-program cubins cannot be linked with; tests/runner/nvrtc_test.cpp
// holds the proof), has no other streams, and its stores are visible at the end of the grid.
// Thread: the job thread.
#pragma once

#include "runner/cuda/compiler.h"
#include "runner/cuda/handles.h"
#include "runner/cuda/l2_flush.h"
#include "runner/cuda/throttle_monitor.h"

#include <functional>

namespace warpwright::runner::cuda {

inline constexpr int kCaptureRelaxed = 2; ///< CU_STREAM_CAPTURE_MODE_RELAXED

/// A plan as an executable graph between two event nodes.
struct TimedGraph {
  Event start, stop;
  GraphExec executable;
};

class GpuTimer {
public:
  static DeviceResult<std::unique_ptr<GpuTimer>>
  make(const Driver &driver, CUstream stream, Compiler &compiler, const model::DeviceInfo &device);

  /// What `enqueue` puts on the stream becomes the graph; nothing runs.
  DeviceResult<TimedGraph> capture(int mode, const std::function<void()> &enqueue);
  /// Queues one sample without waiting for it.
  DeviceResult<void> start(const TimedGraph &graph);
  /// Queues what comes before the graph of a sample, for a graph that somebody else launches.
  DeviceResult<void> start_before();
  /// After the stream has ended.
  DeviceResult<Sample> read(const TimedGraph &graph) {
    return read(graph.start.get(), graph.stop.get());
  }
  DeviceResult<Sample> read(CUevent start, CUevent stop);
  /// As Device::set_thorough_flush().
  void set_thorough_flush(bool thorough) { thorough_flush_ = thorough; }
  /// Queues the flush of the L2 alone.
  DeviceResult<void> flush();
  /// A sample of this time, with what the driver says of clocks now.
  Sample sample_of(double ns);
  /// What lies between two stamps beyond the kernel between them, ns, from many samples. Waits for the stream.
  /// @param probe_ns duration of the probe kernel; absent: the stamps have nothing between them, which costs less
  std::optional<double> measure_bracket(std::optional<double> probe_ns);
  /// A graph of the probe kernel to be timed as any other, each time another one of several that are made anew now and then; nullptr
  /// when it cannot be made.
  const TimedGraph *next_probe();
  /// "580.159.04"; empty without NVML.
  const std::string &driver_version() const { return throttle_.driver_version(); }

private:
  GpuTimer(const Driver &driver, CUstream stream, const model::DeviceInfo &device)
      : driver_(driver), stream_(stream), throttle_(device.identifier) {}

  DeviceResult<void> check(Status status, const std::string &what) const;

  DeviceResult<CUfunction> load(Compiler &compiler, const char *source, const char *kernel,
                                Module &module);
  /// Time between the stamps, ns, from many samples; of the probe, or of nothing (nullptr).
  std::optional<double> time_often(CUfunction probe);
  /// Adds samples of each graph; false: the device failed.
  bool time_in_turn(const std::vector<TimedGraph> &graphs, std::vector<double> &samples);
  /// Several graphs of one kernel, or of nothing (nullptr).
  std::optional<std::vector<TimedGraph>> capture_in_turn(CUfunction probe);

  const Driver &driver_;
  CUstream stream_;
  L2Flush flush_;
  bool thorough_flush_ = false;
  Module delay_module_, probe_module_;
  CUfunction delay_ = nullptr, probe_ = nullptr;
  Memory probe_memory_;
  std::vector<TimedGraph> probes_;
  std::size_t probe_runs_ = 0; ///< of probes_
  ThrottleMonitor throttle_;
};

} // namespace warpwright::runner::cuda
