// Plain launches by driver calls without the measuring device, which runs timing kernels when it
// starts. A profiler would report those kernels, and a sanitizer would slow them down.
#include "runner/deep/plain_launch.h"
#include "plan/program.h"
#include "runner/cuda/compiler.h"
#include "runner/cuda/function_launch.h"
#include "runner/cuda/handles.h"
#include "runner/deep/launch_folder.h"
#include "runner/verify/bound_plan.h"
#include "runner/verify/checker.h"

#include <algorithm>
#include <sstream>
#include <thread>

namespace warpwright::runner::deep {
namespace {

constexpr std::uint64_t kElementsAThread = 1 << 16;

Error error_of(const Fault &fault) { return {fault.message, {}}; }

/// Same as in BufferSet: gives each buffer different numbers.
std::uint64_t buffer_seed(std::uint64_t seed, std::size_t index) {
  return element::mix(seed * 64 + index);
}

std::vector<std::uint64_t> draw_on_host(const element::Draw &draw, std::uint64_t count) {
  std::vector<std::uint64_t> drawn(
      count * static_cast<std::size_t>(element::stored_width(draw)) / 8 + 1);
  const std::uint64_t threads = std::clamp<std::uint64_t>(count / kElementsAThread, 1,
                                                          std::thread::hardware_concurrency() + 1);
  // Shares are multiples of 8, so that no two threads write to the same word.
  const std::uint64_t share = (count / threads + 8) / 8 * 8;
  std::vector<std::jthread> workers;
  for (std::uint64_t thread = 0; thread < threads; ++thread)
    workers.emplace_back([&, first = thread * share] {
      for (std::uint64_t i = first; i < std::min(first + share, count); ++i)
        element::generate(draw, drawn.data(), i);
    });
  workers.clear();
  return drawn;
}

class Launcher {
public:
  Launcher(const PlainLaunch &wanted, const std::function<void(const std::string &)> &say)
      : wanted_(wanted), say_(say) {}

  Result<void> run() {
    for (auto step : {&Launcher::open, &Launcher::compile})
      TRY((this->*step)());
    for (const symbolic::Sizes &sizes : wanted_.sizes)
      TRY(run_at(sizes));
    return {};
  }

private:
  Result<void> open() {
    auto driver = TRY(cuda::Driver::load());
    driver_ = std::make_unique<cuda::Driver>(std::move(driver));
    int count = 0;
    driver_->cuDeviceGetCount(&count);
    if (wanted_.ordinal < 0 || wanted_.ordinal >= count ||
        driver_->cuDeviceGet(&device_, wanted_.ordinal) != 0)
      return fail("no GPU cuda:" + std::to_string(wanted_.ordinal),
                  "This machine has " + std::to_string(count));
    context_ = std::make_unique<cuda::PrimaryContext>(*driver_, device_);
    if (context_->status() != 0)
      return fail("cannot use the GPU: " + driver_->text(context_->status()));
    cuda::CUstream stream = nullptr;
    TRY(check(driver_->cuStreamCreate(&stream, 0), "making a stream"));
    stream_ = cuda::Stream(*driver_, stream);
    return {};
  }

  Result<void> compile() {
    int major = 0, minor = 0;
    driver_->cuDeviceGetAttribute(&major, cuda::kComputeMajor, device_);
    driver_->cuDeviceGetAttribute(&minor, cuda::kComputeMinor, device_);
    const std::shared_ptr<CompileCache> cache =
        wanted_.code_folder.empty() ? nullptr : std::make_shared<FolderCache>(wanted_.code_folder);
    auto compiler = TRY(cuda::Compiler::make({10 * major + minor, cache}));
    CompileRequest request{wanted_.plan.source, wanted_.plan.options,
                           plan::kernels_of(wanted_.plan)};
    request.options.emplace_back("-lineinfo");
    auto output = compiler->compile(request);
    if (!output)
      return std::unexpected(error_of(output.error()));
    cuda::CUmodule module = nullptr;
    TRY(check(driver_->cuModuleLoadData(&module, output->code.cubin.data()),
              "loading the compiled code"));
    module_ = cuda::Module(*driver_, module);
    for (std::size_t i = 0; i < request.kernels.size(); ++i) {
      cuda::CUfunction function = nullptr;
      TRY(check(
          driver_->cuModuleGetFunction(&function, module, output->code.lowered_names[i].c_str()),
          "finding " + request.kernels[i]));
      functions_.push_back(function);
    }
    return {};
  }

  Result<void> run_at(const symbolic::Sizes &sizes) {
    say_("at " + symbolic::describe_sizes(sizes));
    buffers_.clear();
    bound_.clear();
    for (const model::Buffer &buffer : wanted_.task.buffers)
      TRY(allocate(buffer.name, buffer.dtype, buffer.extent, sizes));
    for (const model::Temporary &temporary : wanted_.plan.temporaries)
      TRY(allocate(temporary.name, temporary.dtype, temporary.extent, sizes));
    auto operations = bind_plan(wanted_.plan, {}, wanted_.task, sizes, bound_);
    if (!operations)
      return std::unexpected(error_of(operations.error()));
    for (int run = 0; run < wanted_.repeat; ++run) {
      TRY(fill_inputs(sizes));
      for (const Operation &operation : *operations)
        TRY(start(operation));
      TRY(wait("running the kernels"));
    }
    return {};
  }

  Result<void> allocate(const std::string &name, model::Dtype dtype,
                        const symbolic::Expression &extent, const symbolic::Sizes &sizes) {
    auto elements = extent.evaluate(sizes);
    if (!elements)
      return fail("the extent of " + name + ": " + describe(elements.error()));
    const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(*elements, 0));
    const std::size_t bytes = count * model::size_bytes(dtype);
    cuda::CUdeviceptr address = 0;
    TRY(check(driver_->cuMemAlloc(&address, std::max<std::size_t>(bytes, 1)),
              "allocating " + std::to_string(bytes) + " bytes for " + name));
    buffers_.emplace_back(*driver_, address);
    bound_[name] = {address, dtype, count};
    std::ostringstream line;
    line << "buffer " << name << " 0x" << std::hex << address << std::dec << " " << bytes;
    say_(line.str());
    return {};
  }

  Result<void> fill_inputs(const symbolic::Sizes &sizes) {
    for (std::size_t index = 0; index < wanted_.task.buffers.size(); ++index) {
      const model::Buffer &buffer = wanted_.task.buffers[index];
      if (buffer.direction == model::Direction::Out)
        continue;
      const auto lower = buffer.distribution.lower.evaluate(sizes),
                 upper = buffer.distribution.upper.evaluate(sizes);
      if (!lower || !upper)
        return fail("the distribution of " + buffer.name + ": " +
                    describe(lower ? upper.error() : lower.error()));
      const BoundBuffer &bound = bound_.at(buffer.name);
      if (bound.elements == 0)
        continue;
      const element::Draw draw = make_draw(buffer, *lower, *upper, bound.elements,
                                           buffer_seed(wanted_.seed, index));
      const std::vector<std::uint64_t> drawn = draw_on_host(draw, bound.elements);
      TRY(check(driver_->cuMemcpyHtoDAsync(bound.address, drawn.data(),
                                           bound.elements * model::size_bytes(buffer.dtype),
                                           stream_.get()),
                "copying " + buffer.name + " to the device"));
      TRY(wait("copying " + buffer.name + " to the device"));
    }
    return {};
  }

  Result<void> start(const Operation &operation) {
    if (const auto *fill = std::get_if<FillOperation>(&operation))
      return fill->size_bytes == 0
                 ? Result<void>{}
                 : check(driver_->cuMemsetD8Async(fill->address, fill->byte, fill->size_bytes,
                                                  stream_.get()),
                         "filling memory");
    const auto &kernel = std::get<LaunchOperation>(operation);
    const cuda::CUfunction function = functions_[kernel.kernel];
    if (auto ready = cuda::make_ready(*driver_, device_, function, kernel); !ready)
      return std::unexpected(error_of(ready.error()));
    std::vector<void *> pointers;
    for (const ArgumentValue &argument : kernel.arguments)
      pointers.push_back(const_cast<unsigned char *>(argument.bytes.data()));
    return check(cuda::start(*driver_, function, kernel, stream_.get(), pointers.data()),
                 "launching " + kernel.kernel_name);
  }

  Result<void> wait(const std::string &what) {
    for (;;) {
      const cuda::Status status = driver_->cuStreamQuery(stream_.get());
      if (status != cuda::kNotReady)
        return check(status, what);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  Result<void> check(cuda::Status status, const std::string &what) const {
    if (status == 0)
      return {};
    return std::unexpected(error_of(driver_->to_fault(status, what)));
  }

  const PlainLaunch &wanted_;
  const std::function<void(const std::string &)> &say_;
  // Order of construction; the last member is destroyed first.
  std::unique_ptr<cuda::Driver> driver_;
  cuda::CUdevice device_ = 0;
  std::unique_ptr<cuda::PrimaryContext> context_;
  cuda::Stream stream_;
  cuda::Module module_;
  std::vector<cuda::CUfunction> functions_;
  std::vector<cuda::Memory> buffers_;
  BoundBuffers bound_;
};

} // namespace

Result<void> launch_plainly(const PlainLaunch &launch,
                            const std::function<void(const std::string &)> &say) {
  return Launcher(launch, say).run();
}

} // namespace warpwright::runner::deep
