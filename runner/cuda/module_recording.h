// Recording of one side of a torch task for timing: a graph that torch captures, with the runner's
// two time stamps in it, and a call from Python. docs/internals/torch-worker.md describes the
// measured intervals.
//
// Torch does the capture, because its allocator must know about it. Memory allocated during a
// capture stays in place as long as the graph exists. The graph's kernels can therefore read
// torch's results at fixed addresses. Thread: the job thread.
#pragma once

#include "runner/cuda/cuda_torch.h"
#include "runner/cuda/frame_launches.h"
#include "runner/cuda/handles.h"

#include <functional>

namespace warpwright::runner::cuda {

class ModuleRecording final : public Recording {
public:
  explicit ModuleRecording(CudaTorch &torch) : torch_(torch) {}
  ~ModuleRecording() override;

  /// Call before each run; see TorchHost::refresh().
  DeviceResult<void> refresh() const;

  std::string why_no_device_time() const override { return uncaptured; }

  std::string uncaptured; ///< torch's error if the module cannot be captured; else empty
  Event start, stop;
  std::int64_t graph = -1; ///< handle of torch's graph
  std::int64_t call = -1;  ///< handle of the timed call from Python
  std::unique_ptr<FrameLaunches> launches;
  std::vector<std::shared_ptr<const CallHandle>> calls; ///< torch calls among the operations

private:
  CudaTorch &torch_;
};

class ModuleRecorder {
public:
  /// @param prepare checks a launch and returns its function, ready for starting
  ModuleRecorder(const Driver &driver, CUstream stream, CudaTorch &torch, Device &device,
                 std::function<DeviceResult<CUfunction>(const LaunchOperation &)> prepare)
      : driver_(driver), stream_(stream), torch_(torch), device_(device),
        prepare_(std::move(prepare)) {}

  DeviceResult<std::unique_ptr<ModuleRecording>> record(std::span<const Operation> operations,
                                                        const CallFrame &frame);

private:
  DeviceResult<void> start(std::span<const Operation> operations);
  DeviceResult<void> warm_up(std::span<const Operation> operations);
  DeviceResult<void> capture(std::span<const Operation> operations, ModuleRecording &recording);
  DeviceResult<void> make_call(std::span<const Operation> operations, const CallFrame &frame,
                               ModuleRecording &recording);

  const Driver &driver_;
  CUstream stream_;
  CudaTorch &torch_;
  Device &device_;
  std::function<DeviceResult<CUfunction>(const LaunchOperation &)> prepare_;
};

} // namespace warpwright::runner::cuda
