// The launches and fills of a candidate's call, in groups between its torch calls, on memory whose addresses are told at each call.
// Thread: the job thread. The modules of the functions must outlive it.
#pragma once

#include "runner/cuda/plain_launches.h"
#include "runner/torch/executor.h"

#include <deque>

namespace warpwright::runner::cuda {

/// Memory that a call is told the address of; `address` is where it lay when the operations were bound.
struct Place {
  Address address = 0;
  std::size_t size_bytes = 0;
};

class FrameLaunches final : public CallExecutor {
public:
  /// @param places in the order in which calls tell their addresses; of two that share addresses the later holds
  FrameLaunches(const Driver &driver, CUstream stream, std::vector<Place> places)
      : driver_(driver), stream_(stream), places_(std::move(places)) {}

  /// What is added from here on is a group of its own. @return its number
  std::size_t begin_group();
  void add(CUfunction function, const LaunchOperation &launch);
  void add(const FillOperation &fill);

  int start_group(std::size_t group, const std::uint64_t *addresses) override;

private:
  /// The 8 bytes at `at` are to be the address of a place, and so much more.
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
