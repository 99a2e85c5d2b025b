// Compiling queued jobs on CPU cores, ahead of the GPU: worker processes without a GPU
// (`warpwright-runner compile-worker`) that put the code into the cache on disk, from which the
// GPU's worker takes it when the job's turn comes.
//
// A compile worker runs the verifier itself on a device that can compile and nothing else, so that
// "does not compile" is said in the same words; that a compile did not end in the job's time counts
// as well, if that was 10 s or more. Whatever else it says is dropped: the GPU decides.
// Losing a compile worker costs the prefetch. Thread: the service's strand.
#pragma once

#include "runner/service/device_worker.h"

namespace warpwright::runner {

struct CompileAheadSettings {
  std::vector<std::string> command; ///< `--capability N` is added
  std::vector<std::string> environment;
  std::size_t processes = 1; ///< at a time, for all architectures together
  std::shared_ptr<const CodeShelves> shelves = nullptr; ///< where the code goes
};

class CompileAhead {
public:
  struct Answer {
    bool in_cache = false;                 ///< reference and candidate, for this architecture
    std::optional<model::Verdict> refused; ///< does not compile, but for the device
  };
  using Done = std::function<void(Answer)>;

  CompileAhead(boost::asio::any_io_executor executor, CompileAheadSettings settings);
  ~CompileAhead();

  /// @param capability 10 * major + minor
  /// Whether a process has nothing to do. The scheduler queues, so that clients take turns here too.
  bool has_free_process() const;
  /// Only when a process is free.
  /// @param capability 10 * major + minor
  /// @param done called once, or never after stop()
  void compile(const QueuedJob &job, int capability, Done done);
  void stop();

private:
  struct Slot {
    int capability = 0;
    std::shared_ptr<DeviceWorker> worker;
    Done done; ///< of the job that it has
  };
  Slot &free_slot(int capability, const QueuedJob &job);

  boost::asio::any_io_executor executor_;
  CompileAheadSettings settings_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

/// As many processes as there are cores beyond one for each device: 1 to 16.
std::size_t compile_processes(std::size_t cores, std::size_t devices);
/// The pool for this machine's GPUs, of $WARPWRIGHT_COMPILE_AHEAD processes where that is set; null
/// where there is no GPU, no process wanted, or no folder to keep code in.
std::unique_ptr<CompileAhead> make_compile_ahead(boost::asio::any_io_executor executor,
                                                 std::size_t gpus,
                                                 std::shared_ptr<const CodeShelves> shelves);

} // namespace warpwright::runner
