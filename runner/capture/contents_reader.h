// Looks at buffers before chosen launches, in a program's second run.
//
// The program's thread waits for the launch's stream and copies the buffers to the host, in CUPTI's
// callback before the launch. Bounds: bytes of a buffer and of a run, and the time that a stream
// may take. Thread: any; the lock is never held during a call of the driver.
#pragma once

#include "runner/capture/launch_reader.h"
#include "runner/capture/files/contents.h"

#include <atomic>
#include <functional>
#include <mutex>

namespace warpwright::capture {

class ContentsReader {
public:
  /// @param folder of the process
  ContentsReader(std::vector<WantedLaunch> wanted, std::filesystem::path folder);

  /// A launch is about to start. Writes its buffers' statistics if it is wanted.
  /// @param skip takes what was left out, and why
  void look(const LaunchCall &call, const Launch &launch, bool is_captured,
            const std::function<void(const std::string &what, const std::string &why)> &skip);

private:
  std::optional<WantedLaunch> counted(const Launch &launch);
  /// Empty: the stream is idle. Otherwise why it is not.
  std::string wait(cuda::CUstream stream) const;
  /// Empty: done.
  std::string copy(void *to, std::uint64_t from, std::size_t size_bytes) const;

  struct Runs {
    std::uint64_t seen = 0;
    std::vector<std::uint64_t> wanted;
  };
  const std::filesystem::path folder_;
  SharedLibrary library_;
  cuda::Status (*stream_query_)(cuda::CUstream) = nullptr;
  cuda::Status (*create_stream_)(cuda::CUstream *, unsigned flags) = nullptr;
  cuda::Status (*destroy_stream_)(cuda::CUstream) = nullptr;
  cuda::Status (*copy_)(std::uint64_t to, std::uint64_t from, std::size_t size_bytes, cuda::CUstream) = nullptr;
  std::atomic<std::uint64_t> seen_bytes_ = 0;
  std::mutex mutex_; ///< of runs_ and the file
  std::map<std::string, Runs> runs_; ///< by kernel, grid and block
};

} // namespace warpwright::capture
