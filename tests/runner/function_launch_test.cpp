// Whether a device holds a launch, and how it is started. The driver is a fake: a GPU of as many multiprocessors as a test says.
#include "runner/cuda/function_launch.h"

#include <doctest/doctest.h>

namespace warpwright::runner::cuda {
namespace {

struct FakeGpu {
  int multiprocessors = 132, shared_bytes = 227 * 1024, cooperative = 1, blocks = 1, own_shared = 0;
  int asked_for = 0, plain = 0, together = 0;
};
FakeGpu gpu;

Driver driver_of(FakeGpu with) {
  gpu = with;
  Driver driver;
  driver.cuDeviceGetAttribute = [](int *value, int which, CUdevice) -> Status {
    *value = which == kMultiprocessorCount ? gpu.multiprocessors
             : which == kMaxSharedBytes    ? gpu.shared_bytes
             : which == kCooperativeLaunch ? gpu.cooperative
                                           : 0;
    return 0;
  };
  driver.cuFuncGetAttribute = [](int *value, int, CUfunction) -> Status {
    *value = gpu.own_shared;
    return 0;
  };
  driver.cuFuncSetAttribute = [](CUfunction, int, int value) -> Status {
    gpu.asked_for = value;
    return 0;
  };
  driver.cuOccupancyMaxActiveBlocksPerMultiprocessor = [](int *blocks, CUfunction, int threads,
                                                          std::size_t) -> Status {
    *blocks = threads > 1024 ? 0 : gpu.blocks;
    return 0;
  };
  driver.cuLaunchKernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, CUstream, void **, void **) -> Status {
    ++gpu.plain;
    return 0;
  };
  driver.cuLaunchCooperativeKernel = [](CUfunction, unsigned x, unsigned y, unsigned z, unsigned,
                                        unsigned, unsigned, unsigned, CUstream, void **) -> Status {
    ++gpu.together;
    return static_cast<int>(x * y * z) > gpu.blocks * gpu.multiprocessors ? 720 : 0;
  };
  driver.cuGetErrorName = [](Status, const char **name) -> Status {
    *name = "NAME";
    return 0;
  };
  driver.cuGetErrorString = driver.cuGetErrorName;
  return driver;
}

LaunchOperation gang(std::uint32_t blocks, std::uint32_t shared_bytes = 0) {
  LaunchOperation launch;
  launch.kernel_name = "k";
  launch.grid = {blocks, 1, 1};
  launch.block = {256, 1, 1};
  launch.shared_bytes = shared_bytes;
  launch.cooperative = true;
  return launch;
}

TEST_CASE("blocks that wait for each other are refused where they do not fit, before they start") {
  const Driver driver = driver_of({.multiprocessors = 98});
  const auto ready = make_ready(driver, 0, nullptr, gang(132));
  REQUIRE_FALSE(ready.has_value());
  CHECK(ready.error().kind == Fault::Kind::Unsupported);
  CHECK(ready.error().message == "k needs 132 resident blocks, this device holds 98");
  CHECK_FALSE(ready.error().device_lost);
  CHECK(make_ready(driver, 0, nullptr, gang(98)).has_value());
  LaunchOperation apart = gang(100'000);
  apart.cooperative = false;
  CHECK(make_ready(driver, 0, nullptr, apart).has_value());
}

TEST_CASE("a multiprocessor may hold several blocks, and a device may know no cooperation") {
  CHECK(make_ready(driver_of({.blocks = 2}), 0, nullptr, gang(264)).has_value());
  const auto ready = make_ready(driver_of({.cooperative = 0}), 0, nullptr, gang(2));
  REQUIRE_FALSE(ready.has_value());
  CHECK(ready.error().message == "k needs 2 resident blocks, this device holds 0");
}

TEST_CASE("shared memory that a device lacks is said, with the kernel's own arrays") {
  const Driver driver = driver_of({.shared_bytes = 99 * 1024, .own_shared = 1024});
  LaunchOperation launch = gang(1, 98 * 1024);
  CHECK(make_ready(driver, 0, nullptr, launch).has_value());
  CHECK(gpu.asked_for == 98 * 1024);
  launch.shared_bytes += 16;
  const auto ready = make_ready(driver, 0, nullptr, launch);
  REQUIRE_FALSE(ready.has_value());
  CHECK(ready.error().kind == Fault::Kind::Unsupported);
  CHECK(ready.error().message ==
        "k needs 101392 bytes of shared memory a block, this device has 101376");
}

TEST_CASE("blocks that wait for each other start together or not at all") {
  const Driver driver = driver_of({.multiprocessors = 8});
  CHECK(start(driver, nullptr, gang(8), nullptr, nullptr) == 0);
  const Status status = start(driver, nullptr, gang(9), nullptr, nullptr);
  CHECK(driver.to_fault(status, "launching k").kind == Fault::Kind::Unsupported);
  CHECK(gpu.together == 2);
  LaunchOperation apart = gang(9);
  apart.cooperative = false;
  CHECK(start(driver, nullptr, apart, nullptr, nullptr) == 0);
  CHECK(gpu.plain == 1);
}

} // namespace
} // namespace warpwright::runner::cuda
