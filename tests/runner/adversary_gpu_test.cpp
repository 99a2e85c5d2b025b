// The adversary suite on a real GPU.
#include "runner/cuda/device.h"
#include "tests/runner/adversary_report.h"

#include <iostream>

namespace warpwright::runner {
namespace {

TEST_CASE("every cheat is refused for its reason on a GPU, and every honest candidate verified") {
  if (const auto devices = cuda::list_cuda_devices(); !devices) {
    std::cout << "all cases skipped: " << describe(devices.error()) << std::endl;
    return;
  }
  testing::check_adversary_report("cuda:0");
}

} // namespace
} // namespace warpwright::runner
