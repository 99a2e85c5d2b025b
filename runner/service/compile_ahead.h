// Compilation of queued jobs on CPU cores, ahead of the GPU. Worker processes without a GPU
// (`warpwright-runner compile-worker`) put the code on the shelves on disk (code_shelves.h). The
// GPU's worker takes it from there when it runs the job.
//
// A compile worker runs the verifier on a device that can only compile, so its "does not compile"
// verdict has the same text as the GPU worker's. A compile that exceeds the job's timeout is
// reported too, if the timeout is 10 s or more. All other answers are dropped, and the GPU decides.
// A lost compile worker costs only the prefetch. Thread: the service's strand.
#pragma once

#include "runner/service/device_worker.h"

namespace warpwright::runner {

struct CompileAheadSettings {
  std::vector<std::string> command; ///< `--capability N` is added
  std::vector<std::string> environment;
  std::size_t processes = 1; ///< upper limit, for all architectures together
  std::shared_ptr<const CodeShelves> shelves = nullptr; ///< where the code is stored
};

class CompileAhead {
public:
  struct Answer {
    bool in_cache = false; ///< code of reference and candidate is stored, for this architecture
    /// verdict for a job that does not compile; its device is not yet set
    std::optional<model::Verdict> refused;
  };
  using Done = std::function<void(Answer)>;

  CompileAhead(boost::asio::any_io_executor executor, CompileAheadSettings settings);
  ~CompileAhead();

  /// Whether a process is idle. The scheduler queues jobs, so that clients take turns here too.
  bool has_free_process() const;
  /// Compiles a job. Call only when a process is free.
  /// @param capability 10 * major + minor
  /// @param done called once, or never after stop()
  void compile(const QueuedJob &job, int capability, Done done);
  void stop();

private:
  struct Slot {
    int capability = 0;
    std::shared_ptr<DeviceWorker> worker;
    Done done; ///< for the job in progress; null: the slot is free
  };
  Slot &free_slot(int capability, const QueuedJob &job);

  boost::asio::any_io_executor executor_;
  CompileAheadSettings settings_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

/// Number of compile processes: one for each core beyond one for each device, 1 to 16.
std::size_t compile_processes(std::size_t cores, std::size_t devices);
/// The compile pool for this machine's GPUs, with $WARPWRIGHT_COMPILE_AHEAD processes if that is
/// set. Null if there is no GPU, the number of processes is 0, or no folder can keep code.
std::unique_ptr<CompileAhead> make_compile_ahead(boost::asio::any_io_executor executor,
                                                 std::size_t gpus,
                                                 std::shared_ptr<const CodeShelves> shelves);

} // namespace warpwright::runner
