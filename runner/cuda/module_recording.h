// One side of a torch task made ready for timing: a graph that torch captured, with our two time stamps in it, and a call from
// Python. docs/internals/torch-worker.md says what lies between the clocks.
//
// Torch captures because its allocator must know: what a capture allocates stays where it is as long as the graph lives, so the
// addresses of torch's results, which later kernels of the same recording read, are fixed in it. Thread: the job thread.
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

  /// Before each run: see TorchHost::refresh().
  DeviceResult<void> refresh() const;

  std::string why_no_device_time() const override { return uncaptured; }

  std::string uncaptured; ///< what torch said, where the module cannot be captured
  Event start, stop;
  std::int64_t graph = -1; ///< torch's
  std::int64_t call = -1;  ///< to be timed as called
  std::unique_ptr<FrameLaunches> launches;
  std::vector<std::shared_ptr<const CallHandle>> calls; ///< of the operations

private:
  CudaTorch &torch_;
};

class ModuleRecorder {
public:
  /// @param prepare checks a launch and returns its function, ready to be started
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
