// Torch in a child process, for the CPU backend: that process holds Clang, which shares no process with LibTorch.
//
// The child is the user's Python interpreter (WARPWRIGHT_PYTHON, or python3 on PATH) running child_host.py. The worker's supervisor
// starts it in an enclosure of its own for the first torch task. Requests are JSON-RPC on its standard streams;
// tensors lie in memory that both processes have mapped: the device allocates in it, and what is sent are offsets. A child that
// dies or does not answer before the deadline takes the device with it: the worker reports that and is started anew.
// Thread: the job thread.
#pragma once

#include "runner/device/torch_host.h"
#include "runner/torch/python_programs.h"
#include "support/error.h"
#include "support/rpc/frame_reader.h"

#include <filesystem>
#include <functional>

namespace warpwright::runner {

/// Memory that a child process sees too. Sparse: pages exist when they were written.
struct SharedMemory {
  int descriptor = -1;
  std::size_t size_bytes = 0;
};

class ChildHost final : public TorchHost {
public:
  /// Memory and pipes, before the process is held in.
  /// @param folder with the Python files and the worker's library
  /// Errors: no such files.
  static Result<std::unique_ptr<ChildHost>> make(const std::filesystem::path &folder);
  /// For this process's supervisor; once.
  std::map<std::string, EnclosedProgram> programs();
  ~ChildHost() override;

  SharedMemory memory() const { return memory_; }
  /// @param offset_of the offset of an address in the shared memory; set by the device that allocates there
  void set_places(std::function<std::uint64_t(Address)> offset_of) {
    offset_of_ = std::move(offset_of);
  }
  void set_deadline(std::chrono::steady_clock::time_point deadline) { deadline_ = deadline; }

  std::string version() const override { return version_; }
  /// Unsupported: they lie in the child's own memory, until they are published.
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
  std::vector<int> childs_; ///< its ends, until programs() has them
  bool is_started_ = false;
  int to_child_ = -1, from_child_ = -1;
  SharedMemory memory_;
  std::function<std::uint64_t(Address)> offset_of_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  rpc::FrameReader reader_{std::size_t{64} << 20};
  std::string version_; ///< empty: not ready
  std::int64_t next_id_ = 1;
};

} // namespace warpwright::runner
