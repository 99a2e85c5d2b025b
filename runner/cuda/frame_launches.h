// The launches and fills of a candidate's call, in groups between the torch calls. Each call passes
// the addresses of its memory. Thread: the job thread. The modules of the functions must outlive
// FrameLaunches.
#pragma once

#include "runner/cuda/plain_launches.h"
#include "runner/torch/executor.h"

#include <deque>

namespace warpwright::runner::cuda {

/// Memory whose address changes from call to call. `address` is the address to which the operations
/// were bound.
struct Place {
  Address address = 0;
  std::size_t size_bytes = 0;
};

class FrameLaunches final : public CallExecutor {
public:
  /// @param places in the order of the addresses that calls pass; if two places overlap, the later
  ///        one takes precedence
  FrameLaunches(const Driver &driver, CUstream stream, std::vector<Place> places)
      : driver_(driver), stream_(stream), places_(std::move(places)) {}

  /// Starts a new group for the following add() calls. @return the group's number
  std::size_t begin_group();
  void add(CUfunction function, const LaunchOperation &launch);
  void add(const FillOperation &fill);

  int start_group(std::size_t group, const std::uint64_t *addresses) override;

private:
  /// Instruction to write the address of a place plus `offset` to the 8 bytes at `at`.
  struct Patch {
    void *at = nullptr;
    std::size_t place = 0;
    std::uint64_t offset = 0;
  };
  struct Group {
    PlainLaunches launches;
    std::vector<Patch> patches;
  };

  void patch(void *at, Address address);

  const Driver &driver_;
  CUstream stream_;
  std::vector<Place> places_;
  std::deque<Group> groups_;
};

} // namespace warpwright::runner::cuda
