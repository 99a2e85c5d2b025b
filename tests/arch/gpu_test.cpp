// What a GPU is planned as, from what a runner says of it.
#include "arch/generations.h"

#include <doctest/doctest.h>

namespace warpwright::arch {
namespace {

model::DeviceInfo device_of(const std::string &capability, int multiprocessors) {
  model::DeviceInfo device;
  device.kind = "cuda";
  device.name = "NVIDIA Something";
  device.compute_capability = capability;
  device.multiprocessors = multiprocessors;
  return device;
}

TEST_CASE("A runner that says less than the plan depends on is an error that says what to do") {
  CHECK(gpu_of(device_of("", 132)).error().remedy.contains("Update the runner"));
  CHECK_FALSE(gpu_of(device_of("9.0", 0)).has_value());
}

TEST_CASE("What the device reports counts before what its generation has") {
  model::DeviceInfo device = device_of("9.0", 78);
  const Gpu before = gpu_of(device).value();
  CHECK(before.multiprocessors == 78);
  CHECK(before.shared_bytes_block == gpu_named("h20")->shared_bytes_block);
  CHECK(before.tensor_cores == TensorCores::Wgmma);
  device.shared_bytes_block = 64 * 1024;
  device.registers_multiprocessor = 32768;
  device.l2_bytes = 1 << 20;
  const Gpu after = gpu_of(device).value();
  CHECK(after.shared_bytes_block == 64 * 1024);
  CHECK(after.registers_multiprocessor == 32768);
  CHECK(after.l2_bytes == 1 << 20);
  CHECK(after.shared_bytes_multiprocessor == before.shared_bytes_multiprocessor);
}

TEST_CASE("The CPU backend plans for no PTX, and for what needs it neither") {
  model::DeviceInfo device;
  device.kind = "cpu";
  for (const Gpu &gpu : {gpu_of(device).value(), gpu_or_cpu(std::nullopt), *gpu_named("cpu")}) {
    CHECK_FALSE(gpu.inline_ptx);
    CHECK_FALSE(gpu.has_tensor_cores());
    CHECK_FALSE(gpu.clusters);
    CHECK(gpu.multiprocessors > 0);
  }
}

TEST_CASE("Generations") {
  const auto cores = [](const char *name) { return gpu_named(name).value().tensor_cores; };
  CHECK(cores("a100") == TensorCores::Mma);
  CHECK(cores("rtx4090") == TensorCores::Mma);
  CHECK(cores("h200") == TensorCores::Wgmma);
  CHECK(cores("b200") == TensorCores::Tcgen05);
  CHECK(cores("rtx5090") == TensorCores::Mma);
  CHECK(tensor_cores_of(75) == TensorCores::None);
  CHECK(compile_target(80) == "sm_80");
  CHECK(compile_target(90) == "sm_90a");
  CHECK(compile_target(103) == "sm_103a");
  CHECK_FALSE(gpu_named("h300"));
  for (const std::string_view name : gpu_names()) {
    const Gpu gpu = gpu_named(name).value();
    CAPTURE(name);
    CHECK(gpu.shared_bytes_block >= 48 * 1024);
    CHECK(gpu.shared_bytes_multiprocessor >= gpu.shared_bytes_block);
    CHECK(gpu.l2_bytes > 0);
    CHECK(gpu.threads_multiprocessor % 512 == 0);
  }
}

} // namespace
} // namespace warpwright::arch
