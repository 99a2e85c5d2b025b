// `compile-worker`: the verifier on a device that can compile for a GPU and do nothing else. A
// candidate that does not compile gets the same verdict as from the GPU's worker. A candidate that
// compiles leaves its code and its reference's code on the shelves (code_shelves.h).
#include "runner/cuda/compiler.h"
#include "runner/service/commands.h"
#include "runner/service/devices.h"
#include "runner/worker/service_cache.h"
#include "runner/worker/worker.h"

#include <sys/resource.h>

namespace warpwright::runner {
namespace {

/// Lower priority than the GPU's worker, which needs the cores more.
constexpr int kNice = 10;

class Compiled final : public Program {
public:
  explicit Compiled(std::vector<model::CompileReport> reports) : reports_(std::move(reports)) {}
  const std::vector<model::CompileReport> &reports() const override { return reports_; }

private:
  std::vector<model::CompileReport> reports_;
};

class CompileOnlyDevice final : public Device {
public:
  CompileOnlyDevice(std::unique_ptr<cuda::Compiler> compiler, int capability)
      : compiler_(std::move(compiler)) {
    info_.kind = "cuda";
    info_.name = "NVRTC " + compiler_->version();
    info_.compute_capability =
        std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  }

  const model::DeviceInfo &info() const override { return info_; }
  Capabilities capabilities() const override { return {}; }
  DeviceResult<std::unique_ptr<Program>> compile(const CompileRequest &request) override {
    auto output = TRY(compiler_->compile_kernels(request));
    return std::make_unique<Compiled>(std::move(output.reports));
  }

  DeviceResult<Address> allocate(std::size_t) override { return no_gpu(); }
  void free(Address) override {}
  DeviceResult<void> upload(Address, const void *, std::size_t) override { return no_gpu(); }
  DeviceResult<void> download(void *, Address, std::size_t) override { return no_gpu(); }
  DeviceResult<void> fill(const FillOperation &) override { return no_gpu(); }
  DeviceResult<void> copy(Address, Address, std::size_t) override { return no_gpu(); }
  DeviceResult<void> launch(const LaunchOperation &) override { return no_gpu(); }
  DeviceResult<void> synchronize() override { return no_gpu(); }

private:
  static std::unexpected<Fault> no_gpu() {
    return fault(Fault::Kind::Unsupported, "this worker compiles and runs nothing");
  }

  std::unique_ptr<cuda::Compiler> compiler_;
  model::DeviceInfo info_;
};

} // namespace

int run_compile_worker(int capability) {
  setpriority(PRIO_PROCESS, 0, kNice);
  return run_worker(
      [capability]() -> Result<std::unique_ptr<Device>> {
        auto compiler = TRY(cuda::Compiler::make({capability, std::make_shared<ServiceCache>()}));
        return std::make_unique<CompileOnlyDevice>(std::move(compiler), capability);
      },
      cuda_sandbox(WorkerKind::Compiler));
}

} // namespace warpwright::runner
