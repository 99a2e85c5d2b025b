// The worker's library with the fake device in place of a GPU: its memory is the process's, and torch works on it. "measure" in
// WARPWRIGHT_FAKE_WORKER: its made-up times count.
#include "runner/torch/library/library_device.h"
#include "tests/runner/fake_device.h"

namespace warpwright::runner {

Result<std::unique_ptr<Device>> make_library_device(const std::string &name,
                                                    cuda::CudaTorch &torch) {
  if (name != "cpu")
    return fail("the fake device is called cpu, not " + name);
  const char *mode = std::getenv("WARPWRIGHT_FAKE_WORKER");
  auto device =
      std::make_unique<testing::FakeDevice>(mode && std::string(mode) == "measure", "cpu");
  device->torch_host = &torch;
  return device;
}

} // namespace warpwright::runner
