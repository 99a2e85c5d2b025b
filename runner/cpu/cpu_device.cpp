// Implementation of Device on top of the compiler, linker, launcher and memory of this folder.
#include "runner/cpu/cpu_device.h"

#include "runner/cpu/jit.h"
#include "runner/cpu/launcher.h"
#include "runner/cpu/memory.h"
#include "support/hash.h"
#include "support/version.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <llvm/Config/llvm-config.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

/// Capacity of the image cache. A search tries tens of variants of a few sources.
constexpr std::size_t kCachedImages = 128;
/// At this size, a fiber kernel with a few barriers takes a few tenths of a second per run.
constexpr std::int64_t kPreferredElements = 1 << 20;

class CpuProgram : public Program {
public:
  CpuProgram(std::shared_ptr<const cpu::Image> image, cpu::LinkedImage linked,
             const CompileRequest &request, double compile_ms)
      : image_(std::move(image)), linked_(std::move(linked)) {
    for (std::size_t i = 0; i < request.kernels.size(); ++i) {
      model::CompileReport report;
      report.kernel = request.kernels[i];
      report.static_shared_bytes =
          static_cast<std::int64_t>(image_->lowered.kernels[i].shared_bytes());
      report.compile_ms = compile_ms;
      report.log = image_->log;
      reports_.push_back(std::move(report));
    }
  }
  const std::vector<model::CompileReport> &reports() const override { return reports_; }
  const cpu::Image &image() const { return *image_; }
  const cpu::LinkedImage &linked() const { return linked_; }

private:
  std::shared_ptr<const cpu::Image> image_;
  cpu::LinkedImage linked_;
  std::vector<model::CompileReport> reports_;
};

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
#ifdef __x86_64__
  return "x86-64";
#else
  return "arm64"; // whose kernel gives numbers only
#endif
}

model::DeviceInfo describe_cpu() {
  model::DeviceInfo info;
  info.kind = "cpu";
  info.name = cpu_name();
  info.driver =
      "Warpwright CPU backend " + version() + ", LLVM " + LLVM_VERSION_STRING;
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) == 0)
    info.host = host;
  info.memory_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return info;
}

std::string cache_key(const CompileRequest &request) {
  std::string text = request.source;
  for (const auto *list : {&request.options, &request.kernels}) {
    text += '\0';
    for (const std::string &item : *list)
      text += item + '\0';
  }
  return sha256_hex(text);
}

class CpuDevice : public Device {
public:
  explicit CpuDevice(std::unique_ptr<ChildHost> torch)
      : torch_(std::move(torch)), memory_(torch_ ? torch_->memory() : SharedMemory{}) {
    if (torch_)
      torch_->set_places([this](Address address) { return memory_.offset_of(address); });
  }

  const model::DeviceInfo &info() const override { return info_; }
  Capabilities capabilities() const override {
    Capabilities result;
    result.has_guard_pages = true;
    result.has_thread_orders = true;
    result.host_memory = true;
    result.preferred_max_elements = kPreferredElements;
    return result;
  }

  DeviceResult<std::unique_ptr<Program>> compile(const CompileRequest &request) override;

  DeviceResult<Address> allocate(std::size_t size_bytes) override {
    return memory_.allocate(size_bytes);
  }
  void free(Address address) override { memory_.free(address); }
  void set_name(Address address, std::size_t size_bytes, const std::string &name) override {
    memory_.set_name(address, size_bytes, name);
  }
  DeviceResult<void> upload(Address to, const void *from, std::size_t size_bytes) override {
    std::memcpy(reinterpret_cast<void *>(to), from, size_bytes);
    return {};
  }
  DeviceResult<void> download(void *to, Address from, std::size_t size_bytes) override {
    std::memcpy(to, reinterpret_cast<const void *>(from), size_bytes);
    return {};
  }
  DeviceResult<void> fill(const FillOperation &fill) override {
    std::memset(reinterpret_cast<void *>(fill.address), fill.byte, fill.size_bytes);
    return {};
  }
  DeviceResult<void> copy(Address to, Address from, std::size_t size_bytes) override {
    std::memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), size_bytes);
    return {};
  }

  DeviceResult<void> launch(const LaunchOperation &operation) override;
  DeviceResult<void> synchronize() override { return {}; }
  void set_deadline(std::chrono::steady_clock::time_point deadline) override {
    deadline_ = deadline;
    if (torch_)
      torch_->set_deadline(deadline);
  }
  TorchHost *torch() override { return torch_.get(); }
  void set_thread_order(ThreadOrder order) override { order_ = order; }

private:
  std::shared_ptr<const cpu::Image> find_image(const std::string &key);

  model::DeviceInfo info_ = describe_cpu();
  cpu::PreludeCache preludes_;
  std::unique_ptr<ChildHost> torch_;
  cpu::GuardedMemory memory_;
  cpu::Launcher launcher_{memory_};
  ThreadOrder order_ = ThreadOrder::Forward;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  /// Most recently used last.
  std::vector<std::pair<std::string, std::shared_ptr<const cpu::Image>>> images_;
};

std::shared_ptr<const cpu::Image> CpuDevice::find_image(const std::string &key) {
  auto found = std::ranges::find(images_, key, [](const auto &entry) { return entry.first; });
  if (found == images_.end())
    return nullptr;
  std::rotate(found, found + 1, images_.end());
  return images_.back().second;
}

DeviceResult<std::unique_ptr<Program>> CpuDevice::compile(const CompileRequest &request) {
  const std::string key = cache_key(request);
  std::shared_ptr<const cpu::Image> image = find_image(key);
  if (!image) {
    auto made = TRY(cpu::make_image(request, preludes_));
    image = std::make_shared<const cpu::Image>(std::move(made));
    if (images_.size() == kCachedImages)
      images_.erase(images_.begin());
    images_.emplace_back(key, image);
  }
  auto linked = TRY(cpu::link_image(*image));
  return std::make_unique<CpuProgram>(image, std::move(linked), request, image->compile_ms);
}

DeviceResult<void> CpuDevice::launch(const LaunchOperation &operation) {
  const auto *program = static_cast<const CpuProgram *>(operation.program);
  if (!program || operation.kernel >= program->linked().kernels.size())
    return fault(Fault::Kind::Internal, "a launch without a program of this device");
  const cpu::Image &image = program->image();
  return launcher_.run({operation, program->linked().kernels[operation.kernel],
                        image.lowered.kernels[operation.kernel],
                        image.parameter_sizes[operation.kernel], image.lowered.barrier_sites,
                        order_, deadline_});
}

} // namespace

Result<std::unique_ptr<Device>> make_cpu_device(std::unique_ptr<ChildHost> torch) {
  return std::make_unique<CpuDevice>(std::move(torch));
}

} // namespace warpwright::runner
