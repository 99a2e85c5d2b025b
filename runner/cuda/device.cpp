// Implementation of the CUDA device. All work goes to one stream. Waiting polls the stream, so that
// the deadline also applies to a kernel that never ends. The fault then reports a lost device, and
// the end of the process stops the kernel.
#include "runner/cuda/device.h"
#include "runner/cuda/compiler.h"
#include "runner/cuda/device_info.h"
#include "runner/cuda/foreign_recording.h"
#include "runner/cuda/function_launch.h"
#include "runner/cuda/gpu_timer.h"
#include "runner/cuda/handles.h"
#include "runner/cuda/memory_pool.h"
#include "runner/cuda/module_recording.h"
#include "runner/cuda/plain_launches.h"
#include "runner/cuda/rates.h"

#include <algorithm>
#include <map>
#include <thread>

namespace warpwright::runner::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kStreamNonBlocking = 1;
/// Capacity of the cache of compiled code, for a job's plans and the runner's own kernels.
constexpr std::size_t kKeptCode = 8;
constexpr Status kOutOfMemory = 2;
/// The memory pool may keep at most 1/kPoolPart of the device's memory, because several workers may
/// share the device.
constexpr std::uint64_t kPoolPart = 32;
constexpr const char *kNotPlain = "a plan that calls torch is not a plain recording";

class CudaProgram final : public Program {
public:
  const std::vector<model::CompileReport> &reports() const override { return reports_; }

  std::vector<Module> modules;
  std::vector<CUfunction> functions;
  /// For each kernel, the size of each parameter; nullopt if the driver cannot report the sizes.
  std::vector<std::optional<std::vector<std::size_t>>> parameter_bytes;
  std::vector<model::CompileReport> reports_;
};

class CudaRecording final : public Recording {
public:
  TimedGraph graph;
};

class CudaDevice final : public Device {
public:
  static Result<std::unique_ptr<Device>> make(int ordinal, CudaTorch *torch,
                                              std::shared_ptr<CompileCache> cache) {
    auto driver = TRY(Driver::load());
    auto device = std::make_unique<CudaDevice>(std::move(driver), torch);
    TRY(device->start(ordinal, std::move(cache)));
    return device;
  }

  CudaDevice(Driver driver, CudaTorch *torch) : driver_(std::move(driver)), torch_(torch) {}
  ~CudaDevice() override { free_blocks(pool_.empty()); }

  const model::DeviceInfo &info() const override { return info_; }
  Capabilities capabilities() const override {
    return {.can_measure = true, .device_checks = true};
  }
  void set_deadline(Clock::time_point deadline) override { deadline_ = deadline; }
  void start_job() override { ran_out_of_memory_ = false; }
  bool ran_out_of_memory() const override {
    return ran_out_of_memory_ || (torch_ && torch_->ran_out_of_memory());
  }

  DeviceResult<std::unique_ptr<Program>> compile(const CompileRequest &request) override {
    auto output = TRY(code_of(request));
    auto program = std::make_unique<CudaProgram>();
    program->reports_ = output.reports;
    for (const CompiledCode &code : output.modules) {
      CUmodule module = nullptr;
      TRY(check(driver_.cuModuleLoadData(&module, code.cubin.data()), "loading the compiled code"));
      program->modules.emplace_back(driver_, module);
    }
    for (std::size_t i = 0; i < request.kernels.size(); ++i) {
      CUfunction function = nullptr;
      TRY(check(driver_.cuModuleGetFunction(&function, program->modules[output.module_of[i]].get(),
                                            output.symbols[i].c_str()),
                "finding " + request.kernels[i]));
      program->functions.push_back(function);
      program->parameter_bytes.push_back(parameters_of(function));
      add_attributes(function, program->reports_[i]);
    }
    return program;
  }

  void compile_ahead(const CompileRequest &request) override { (void)code_of(request); }

  std::optional<double> occupancy(const LaunchOperation &launch) override {
    const CUfunction function = function_of(launch);
    const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
    int blocks = 0;
    if (driver_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads,
                                                            launch.shared_bytes) != 0)
      return std::nullopt;
    const int warps = (threads + 31) / 32 * blocks;
    return std::min(1.0,
                    warps / (attribute(driver_, kMaxThreadsPerMultiprocessor, device_) / 32.0));
  }

  DeviceResult<Address> allocate(std::size_t size_bytes) override {
    if (const auto kept = pool_.take(size_bytes))
      return *kept;
    CUdeviceptr address = 0;
    Status status = driver_.cuMemAlloc(&address, size_bytes);
    if (status == kOutOfMemory && free_blocks(pool_.empty()))
      status = driver_.cuMemAlloc(&address, size_bytes);
    if (status == kOutOfMemory && torch_ && torch_->release_memory())
      status = driver_.cuMemAlloc(&address, size_bytes);
    ran_out_of_memory_ |= status == kOutOfMemory;
    TRY(check(status, "allocating " + std::to_string(size_bytes) + " bytes"));
    pool_.add(address, size_bytes);
    return address;
  }
  void free(Address address) override { free_blocks(pool_.give_back(address)); }

  DeviceResult<void> upload(Address to, const void *from, std::size_t size_bytes) override {
    if (size_bytes == 0)
      return {};
    TRY(check(driver_.cuMemcpyHtoDAsync(to, from, size_bytes, stream_.get()),
              "copying to the device"));
    return synchronize();
  }
  DeviceResult<void> download(void *to, Address from, std::size_t size_bytes) override {
    if (size_bytes == 0)
      return {};
    // Wait first, because a pageable copy blocks inside the driver behind a kernel that never ends.
    TRY(synchronize());
    TRY(check(driver_.cuMemcpyDtoHAsync(to, from, size_bytes, stream_.get()),
              "copying from the device"));
    return synchronize();
  }
  DeviceResult<void> fill(const FillOperation &fill) override {
    if (fill.size_bytes == 0)
      return {};
    return check(driver_.cuMemsetD8Async(fill.address, fill.byte, fill.size_bytes, stream_.get()),
                 "filling memory");
  }
  DeviceResult<void> copy(Address to, Address from, std::size_t size_bytes) override {
    return check(driver_.cuMemcpyDtoDAsync(to, from, size_bytes, stream_.get()),
                 "copying on the device");
  }

  DeviceResult<void> launch(const LaunchOperation &launch) override {
    PlainLaunches launches;
    TRY(add_to(launches, launch));
    return check(launches.start(driver_, stream_.get()), "launching " + launch.kernel_name);
  }

  DeviceResult<void> synchronize() override {
    for (int polls = 0;; ++polls) {
      const Status status = driver_.cuStreamQuery(stream_.get());
      if (status == 0)
        return {};
      if (status != kNotReady)
        return std::unexpected(driver_.to_fault(status, "running the kernels"));
      if (Clock::now() > deadline_) {
        driver_.abandoned = true;
        return fault(Fault::Kind::Timeout, "the kernels did not end before the job's deadline",
                     true);
      }
      if (polls > 1000) // spin only for short kernels
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  DeviceResult<std::unique_ptr<Recording>> record(std::span<const Operation> operations) override {
    TRY(synchronize());
    auto recording = std::make_unique<CudaRecording>();
    DeviceResult<void> started;
    auto made = timer_->capture(kCaptureRelaxed, [&] {
      for (const Operation &operation : operations) {
        const auto *kernel = std::get_if<LaunchOperation>(&operation);
        const auto *filled = std::get_if<FillOperation>(&operation);
        started = kernel   ? launch(*kernel)
                  : filled ? fill(*filled)
                           : fault(Fault::Kind::Unsupported, kNotPlain);
        if (!started)
          return;
      }
    });
    if (!started)
      return std::unexpected(started.error());
    if (!made)
      return std::unexpected(made.error());
    recording->graph = std::move(*made);
    return recording;
  }

  TorchHost *torch() override { return torch_; }

  DeviceResult<std::unique_ptr<Recording>> record_module(std::span<const Operation> operations,
                                                         const CallFrame &frame) override {
    if (!torch_)
      return Device::record_module(operations, frame);
    TRY(synchronize());
    if (const auto *call = host_code_in(operations))
      return record_foreign(*torch_, *call);
    const auto prepare = [this](const LaunchOperation &launch) { return ready_function(launch); };
    return ModuleRecorder(driver_, stream_.get(), *torch_, *this, prepare)
        .record(operations, frame);
  }

  DeviceResult<Sample> time_call(Recording &recording) override {
    if (const auto *foreign = dynamic_cast<ForeignRecording *>(&recording))
      return time_foreign(*foreign, true);
    auto &module = static_cast<ModuleRecording &>(recording);
    TRY(timer_->flush());
    TRY(synchronize());
    const auto ns = torch_->time_call(module.call, deadline_ - Clock::now());
    if (!ns) {
      driver_.abandoned = driver_.abandoned || ns.error().kind == Fault::Kind::Timeout;
      return std::unexpected(ns.error());
    }
    if (auto ended = synchronize(); !ended) // its fault describes the error
      return std::unexpected(ended.error());
    TRY(torch_->publish_call(module.call));
    return timer_->sample_of(*ns);
  }

  DeviceResult<void> warm_call(Recording &recording) override {
    if (dynamic_cast<ForeignRecording *>(&recording))
      return {}; // the candidate's process warms up by itself, right before its clock starts
    return torch_->warm_call(static_cast<ModuleRecording &>(recording).call);
  }

  DeviceResult<Sample> time(Recording &recording) override {
    if (auto *module = dynamic_cast<ModuleRecording *>(&recording))
      return time_module(*module);
    if (const auto *foreign = dynamic_cast<ForeignRecording *>(&recording))
      return time_foreign(*foreign, false);
    auto &graph = static_cast<CudaRecording &>(recording).graph;
    TRY(timer_->start(graph));
    TRY(synchronize());
    return timer_->read(graph);
  }

  void set_thorough_flush(bool thorough) override { timer_->set_thorough_flush(thorough); }

  DeviceResult<std::optional<double>> time_batch(Recording &recording, int runs) override {
    const auto *module = dynamic_cast<ModuleRecording *>(&recording);
    if (dynamic_cast<ForeignRecording *>(&recording) || (module && !module->uncaptured.empty()))
      return std::optional<double>();
    TRY(synchronize());
    const auto begun = Clock::now();
    for (int run = 0; run < runs; ++run) {
      TRY(module ? torch_->replay(module->graph)
                 : check(driver_.cuGraphLaunch(
                             static_cast<CudaRecording &>(recording).graph.executable.get(),
                             stream_.get()),
                         "launching a graph"));
    }
    auto now = begun;
    for (Status status = kNotReady; status == kNotReady && now <= deadline_; now = Clock::now())
      status = driver_.cuStreamQuery(stream_.get());
    if (auto ended = synchronize(); !ended) // its fault describes the error
      return std::unexpected(ended.error());
    return std::chrono::duration<double, std::nano>(now - begun).count();
  }

  DeviceResult<std::optional<double>> time_bracket() override {
    const TimedGraph *probe = info_.probe_ns ? timer_->next_probe() : nullptr;
    if (!probe)
      return std::optional<double>();
    TRY(timer_->start(*probe));
    TRY(synchronize());
    auto sample = TRY(timer_->read(*probe));
    return sample.ns - *info_.probe_ns;
  }

  DeviceResult<Sample> time_as_called(std::span<const Operation> operations) override {
    PlainLaunches launches;
    for (const Operation &operation : operations) {
      if (const auto *fill = std::get_if<FillOperation>(&operation))
        launches.add(*fill);
      else if (std::holds_alternative<TorchOperation>(operation))
        return fault(Fault::Kind::Unsupported, kNotPlain);
      else if (auto added = add_to(launches, std::get<LaunchOperation>(operation)); !added)
        return std::unexpected(added.error());
    }
    TRY(timer_->flush());
    TRY(synchronize());
    const auto start = Clock::now();
    Status status = launches.start(driver_, stream_.get());
    TRY(check(status, "launching the plan"));
    auto now = start;
    do { // no sleep, so that the end is seen without delay
      status = driver_.cuStreamQuery(stream_.get());
      now = Clock::now();
    } while (status == kNotReady && now <= deadline_);
    if (auto ended = synchronize(); !ended) // its fault describes the error
      return std::unexpected(ended.error());
    return timer_->sample_of(std::chrono::duration<double, std::nano>(now - start).count());
  }

private:
  /// Compiled code of the request, from a cache. NVRTC is the slowest step, and timing loads
  /// modules again.
  DeviceResult<CompiledKernels> code_of(const CompileRequest &request) {
    const auto same = [&](const auto &kept) { return kept.first == request; };
    if (auto found = std::find_if(code_.begin(), code_.end(), same); found != code_.end()) {
      std::rotate(found, found + 1, code_.end());
      return code_.back().second;
    }
    auto output = compiler_->compile_kernels(request);
    if (!output)
      return output;
    if (code_.size() == kKeptCode)
      code_.erase(code_.begin());
    code_.emplace_back(request, *output);
    return output;
  }

  /// Sample measured by the process that holds the module. This process does not use the GPU
  /// meanwhile.
  DeviceResult<Sample> time_foreign(const ForeignRecording &recording, bool as_called) {
    TRY(synchronize());
    const auto taken = TRY(torch_->time_candidate(*recording.call, as_called));
    TRY(synchronize());
    Sample sample = timer_->sample_of(taken.ns);
    sample.throttled = sample.throttled || taken.throttled;
    return sample;
  }

  DeviceResult<Sample> time_module(ModuleRecording &recording) {
    if (!recording.uncaptured.empty())
      return fault(Fault::Kind::Unsupported, recording.uncaptured);
    TRY(timer_->start_before());
    TRY(torch_->replay(recording.graph));
    TRY(synchronize());
    auto sample = timer_->read(recording.start.get(), recording.stop.get());
    TRY(torch_->publish_graph(recording.graph));
    return sample;
  }

  DeviceResult<void> add_to(PlainLaunches &launches, const LaunchOperation &launch) {
    const auto function = TRY(ready_function(launch));
    launches.add(function, launch);
    return {};
  }

  DeviceResult<CUfunction> ready_function(const LaunchOperation &launch) {
    const CUfunction function = function_of(launch);
    TRY(check_arguments(launch));
    TRY(make_ready(driver_, device_, function, launch));
    return function;
  }

  Result<void> start(int ordinal, std::shared_ptr<CompileCache> cache) {
    int count = 0;
    driver_.cuDeviceGetCount(&count);
    if (ordinal < 0 || ordinal >= count || driver_.cuDeviceGet(&device_, ordinal) != 0)
      return fail("no GPU cuda:" + std::to_string(ordinal),
                  "This machine has " + std::to_string(count));
    info_ = describe_device(driver_, device_);
    pool_.set_limit(info_.memory_bytes / kPoolPart);
    const int capability = 10 * attribute(driver_, kComputeMajor, device_) +
                           attribute(driver_, kComputeMinor, device_);
    compiler_ = TRY(Compiler::make({capability, std::move(cache)}));
    info_.driver += ", NVRTC " + compiler_->version();
    context_ = std::make_unique<PrimaryContext>(driver_, device_);
    if (context_->status() != 0)
      return fail("cannot use " + info_.name + ": " + driver_.text(context_->status()),
                  "See what nvidia-smi says");
    CUstream stream = nullptr;
    if (const Status status = driver_.cuStreamCreate(&stream, kStreamNonBlocking); status != 0)
      return fail("cannot make a stream on " + info_.name + ": " + driver_.text(status));
    stream_ = Stream(driver_, stream);
    if (torch_)
      if (auto used = torch_->use_stream(ordinal, reinterpret_cast<std::uint64_t>(stream)); !used)
        return fail("torch cannot use " + info_.name + ": " + used.error().message);
    auto timer = GpuTimer::make(driver_, stream_.get(), *compiler_, info_);
    if (!timer)
      return fail("cannot set up timing on " + info_.name + ": " + timer.error().message);
    timer_ = std::move(*timer);
    info_.driver += timer_->driver_version().empty() ? "" : ", driver " + timer_->driver_version();
    add_rates(driver_, stream_.get(), *compiler_, *timer_, capability,
              attribute(driver_, kMultiprocessorCount, device_), info_);
    return {};
  }

  /// @return whether `blocks` is not empty
  bool free_blocks(const std::vector<Address> &blocks) const {
    for (const Address block : blocks)
      if (!driver_.abandoned)
        driver_.cuMemFree(block);
    return !blocks.empty();
  }

  DeviceResult<void> check(Status status, const std::string &what) const {
    if (status == 0)
      return {};
    return std::unexpected(driver_.to_fault(status, what));
  }

  static CUfunction function_of(const LaunchOperation &launch) {
    return static_cast<const CudaProgram *>(launch.program)->functions[launch.kernel];
  }

  std::optional<std::vector<std::size_t>> parameters_of(CUfunction function) const {
    if (!driver_.cuFuncGetParamInfo)
      return std::nullopt;
    std::vector<std::size_t> sizes;
    std::size_t offset = 0, size = 0;
    while (driver_.cuFuncGetParamInfo(function, sizes.size(), &offset, &size) == 0)
      sizes.push_back(size);
    return sizes;
  }

  /// Checks the number and sizes of the arguments, because the driver would read past missing ones.
  static DeviceResult<void> check_arguments(const LaunchOperation &launch) {
    const auto &expected =
        static_cast<const CudaProgram *>(launch.program)->parameter_bytes[launch.kernel];
    if (!expected)
      return {};
    if (expected->size() != launch.arguments.size())
      return fault(Fault::Kind::BadLaunch,
                   launch.kernel_name + " takes " + std::to_string(expected->size()) +
                       " arguments and is given " + std::to_string(launch.arguments.size()));
    for (std::size_t i = 0; i < expected->size(); ++i)
      if ((*expected)[i] != launch.arguments[i].size_bytes)
        return fault(Fault::Kind::BadLaunch,
                     "argument " + std::to_string(i + 1) + " of " + launch.kernel_name + " is " +
                         std::to_string((*expected)[i]) + " bytes wide and is given " +
                         std::to_string(launch.arguments[i].size_bytes));
    return {};
  }

  void add_attributes(CUfunction function, model::CompileReport &report) const {
    int value = 0;
    if (driver_.cuFuncGetAttribute(&value, kFunctionRegisters, function) == 0)
      report.registers = value;
    if (driver_.cuFuncGetAttribute(&value, kFunctionSharedBytes, function) == 0)
      report.static_shared_bytes = value;
    if (driver_.cuFuncGetAttribute(&value, kFunctionLocalBytes, function) == 0)
      report.local_bytes = value;
  }

  // Declared in order of construction; destruction runs in reverse order.
  Driver driver_;
  CudaTorch *torch_ = nullptr;
  CUdevice device_ = 0;
  model::DeviceInfo info_;
  std::unique_ptr<Compiler> compiler_;
  std::unique_ptr<PrimaryContext> context_;
  MemoryPool pool_;
  Stream stream_;
  std::unique_ptr<GpuTimer> timer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool ran_out_of_memory_ = false;                             ///< in the current job
  std::vector<std::pair<CompileRequest, CompiledKernels>> code_; ///< most recently used last
};

} // namespace

Result<std::unique_ptr<Device>> make_cuda_device(int ordinal, CudaTorch *torch,
                                                 std::shared_ptr<CompileCache> cache) {
  return CudaDevice::make(ordinal, torch, std::move(cache));
}

} // namespace warpwright::runner::cuda
