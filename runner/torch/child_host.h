// TorchHost with torch in a child process, for the CPU backend. The backend's process contains
// Clang, which must not share a process with LibTorch.
//
// The child is the user's Python interpreter (WARPWRIGHT_PYTHON, or python3 on PATH) running
// child_host.py. The worker's supervisor starts the child in a separate enclosure at the first
// torch task. Requests are JSON-RPC on the child's standard streams. Tensors lie in memory that
// both processes map: the device allocates in it, and requests contain offsets. If the child dies
// or does not answer before the deadline, the device counts as lost: the worker reports that and is
// restarted. Thread: the job thread.
#pragma once

#include "runner/device/torch_host.h"
#include "runner/torch/python_programs.h"
#include "support/error.h"
#include "support/rpc/frame_reader.h"

#include <filesystem>
#include <functional>

namespace warpwright::runner {

/// Memory shared with a child process. It is sparse: pages are allocated when first written.
struct SharedMemory {
  int descriptor = -1;
  std::size_t size_bytes = 0;
};

class ChildHost final : public TorchHost {
public:
  /// Creates the shared memory and the pipes. Call before the process enters its isolation.
  /// @param folder contains the Python files and the worker's library
  /// Errors: the files are missing; no memory or pipes.
  static Result<std::unique_ptr<ChildHost>> make(const std::filesystem::path &folder);
  /// The programs that this process may request from its supervisor. Call once.
  std::map<std::string, EnclosedProgram> programs();
  ~ChildHost() override;

  SharedMemory memory() const { return memory_; }
  /// Called by the device that allocates in the shared memory.
  /// @param offset_of maps an address to its offset in the shared memory
  void set_places(std::function<std::uint64_t(Address)> offset_of) {
    offset_of_ = std::move(offset_of);
  }
  void set_deadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }

  std::string version() const override { return version_; }
  /// Faults: Unsupported, always: results lie in the child's private memory until they are
  /// published.
  DeviceResult<std::vector<Address>> results(CallHandle call) override;

private:
  ChildHost() = default;
  DeviceResult<void> make_ready() override;
  std::uint64_t place_of(Address address) const override { return offset_of_(address); }
  DeviceResult<void> ask_for_child();
  DeviceResult<nlohmann::json> request(const std::string &method,
                                       const nlohmann::json &parameters) override;
  DeviceResult<void> send(const std::string &message);
  DeviceResult<nlohmann::json> receive();
  DeviceResult<void> await(int descriptor, short events);
  std::unexpected<Fault> lost(Fault::Kind kind, const std::string &message);

  TorchFiles files_;
  std::vector<int> childs_; ///< the child's descriptors, until programs() takes them
  bool is_started_ = false;
  int to_child_ = -1, from_child_ = -1;
  SharedMemory memory_;
  std::function<std::uint64_t(Address)> offset_of_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  rpc::FrameReader reader_{std::size_t{64} << 20};
  std::string version_; ///< empty until torch is ready
  std::int64_t next_id_ = 1;
};

} // namespace warpwright::runner
