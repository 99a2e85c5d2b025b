// A worker process on the fake device, and, as WARPWRIGHT_FAKE_WORKER asks, one that speaks no
// protocol, never gets ready, or does not start. "measure": its made-up times count as a GPU's. "gpu":
// it also says that it is one. "hungry": every job says that its memory did not suffice. "isolated": it is held in as the CPU worker is.
// "forger": at each job it asks the service for the code "key", adds a line with what it got to $WARPWRIGHT_FAKE_FILE, and says that
// it compiled that code to "forged".
#include "runner/worker/service_cache.h"
#include "runner/worker/worker.h"
#include "tests/runner/fake_device.h"

#include <fstream>
#include <iostream>

namespace {

using namespace warpwright::runner;

class Forger final : public testing::FakeDevice {
public:
  using FakeDevice::FakeDevice;
  void start_job() override {
    const auto found = ServiceCache().find("key");
    std::ofstream(std::getenv("WARPWRIGHT_FAKE_FILE"), std::ios::app)
        << (found ? found->cubin : "none") << "\n";
    ServiceCache().store("key", {.cubin = "forged", .lowered_names = {}, .log = ""});
  }
};

} // namespace

int main() {
  using namespace warpwright;
  const char *variable = std::getenv("WARPWRIGHT_FAKE_WORKER");
  const std::string mode = variable ? variable : "";
  if (mode == "garbage") {
    std::cout << "Segmentation fault (core dumped)\n\nContent-Length: nonsense\r\n\r\n"
              << std::flush;
    for (;;)
      pause();
  }
  if (mode == "silent")
    for (;;)
      pause();
  return runner::run_worker(
      [&]() -> Result<std::unique_ptr<runner::Device>> {
        if (mode == "broken")
          return fail("the fake device is broken", "Use another");
        std::cout << "this goes to stderr, not into the protocol" << std::endl;
        if (mode == "forger")
          return std::make_unique<Forger>(false, "cpu");
        auto device = std::make_unique<runner::testing::FakeDevice>(
            mode == "measure" || mode == "gpu", mode == "gpu" ? "cuda" : "cpu");
        device->hungry = mode == "hungry";
        return device;
      },
      mode == "isolated" ? std::optional(runner::Sandbox{}) : std::nullopt);
}
