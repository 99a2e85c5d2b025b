// Measurement of a GPU's peak rates, each from the best of several runs. Bandwidth: a copy of 1
// GiB, or less on small GPUs. FP32: chains of fused multiply-adds in registers, with enough
// independent chains to fill the pipelines. Tensor cores: the kernels of tensor_kernels.h.
#include "runner/cuda/rates.h"
#include "runner/cuda/handles.h"
#include "runner/cuda/probe.h"
#include "runner/cuda/tensor_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace warpwright::runner::cuda {
namespace {

constexpr int kRuns = 7, kTensorIterations = 2048, kFmaThreads = 256, kFmaBlocks = 8,
              kFmaIterations = 4096, kFmaChains = 8;

constexpr const char *kFmaSource = R"(
extern "C" __global__ void ww_fma(float *out, float b, int iterations) {
  float a[8];
  for (int k = 0; k < 8; ++k) a[k] = threadIdx.x + k;
  for (int i = 0; i < iterations; ++i)
#pragma unroll
    for (int k = 0; k < 8; ++k) a[k] = fmaf(a[k], b, b);
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += a[k];
  if (sum == 12345.678f) *out = sum;
}
)";

/// Shortest time of several runs in ns; 0 if a run fails.
double best_ns(const Driver &driver, CUstream stream, const std::function<Status()> &enqueue) {
  const Event start = make_event(driver), stop = make_event(driver);
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    Status status = driver.cuEventRecord(start.get(), stream);
    status = status ? status : enqueue();
    status = status ? status : driver.cuEventRecord(stop.get(), stream);
    while (status == 0 && driver.cuStreamQuery(stream) == kNotReady) {
    }
    float milliseconds = 0;
    if (status != 0 || driver.cuEventElapsedTime(&milliseconds, start.get(), stop.get()) != 0)
      return 0;
    const double ns = static_cast<double>(milliseconds) * 1e6;
    best = best == 0 ? ns : std::min(best, ns);
  }
  return best;
}

Memory allocate(const Driver &driver, std::size_t bytes) {
  CUdeviceptr address = 0;
  return driver.cuMemAlloc(&address, bytes) == 0 ? Memory(driver, address) : Memory();
}

std::optional<double> measure_copy(const Driver &driver, CUstream stream,
                                   std::uint64_t memory_bytes) {
  const std::size_t bytes = std::min<std::uint64_t>(1ull << 30, memory_bytes / 16);
  const Memory from = allocate(driver, bytes), to = allocate(driver, bytes);
  if (!from || !to || driver.cuMemsetD32Async(from.get(), 0x3f9d70a4, bytes / 4, stream) != 0)
    return std::nullopt;
  const double ns = best_ns(driver, stream, [&] {
    return driver.cuMemcpyDtoDAsync(to.get(), from.get(), bytes, stream);
  });
  return ns > 0 ? std::optional(2.0 * static_cast<double>(bytes) / ns * 1e9) : std::nullopt;
}

/// Shortest run in ns of a kernel with parameters (float *, arguments...); 0 if a step fails.
double best_kernel_ns(const Driver &driver, CUstream stream, Compiler &compiler,
                      const std::string &source, const std::string &name, unsigned blocks,
                      unsigned threads, const std::vector<void *> &arguments) {
  auto output = compiler.compile({source, {}, {name}});
  CUmodule loaded = nullptr;
  CUfunction function = nullptr;
  if (!output || driver.cuModuleLoadData(&loaded, output->code.cubin.data()) != 0)
    return 0;
  const Module module(driver, loaded);
  const Memory out = allocate(driver, 256);
  if (!out || driver.cuModuleGetFunction(&function, loaded, output->code.lowered_names[0].c_str()))
    return 0;
  CUdeviceptr address = out.get();
  std::vector<void *> all = {&address};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return best_ns(driver, stream, [&] {
    return driver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, all.data(),
                                 nullptr);
  });
}

std::optional<double> measure_fp32(const Driver &driver, CUstream stream, Compiler &compiler,
                                   int multiprocessors) {
  float factor = 0.999F;
  int iterations = kFmaIterations;
  const auto blocks = static_cast<unsigned>(multiprocessors * kFmaBlocks);
  const double ns = best_kernel_ns(driver, stream, compiler, kFmaSource, "ww_fma", blocks, kFmaThreads,
                                   {&factor, &iterations});
  const double flops = 2.0 * kFmaChains * kFmaIterations * kFmaThreads * blocks;
  return ns > 0 ? std::optional(flops / ns * 1e9) : std::nullopt;
}

std::optional<double> measure_tensor(const Driver &driver, CUstream stream, Compiler &compiler,
                                     int capability, int multiprocessors, TensorType type) {
  const auto kernel = tensor_kernel(capability, type);
  if (!kernel)
    return std::nullopt;
  int iterations = kTensorIterations;
  const unsigned blocks = static_cast<unsigned>(multiprocessors) * kernel->blocks_an_sm;
  const double ns = best_kernel_ns(driver, stream, compiler, kernel->source, kernel->name, blocks,
                                   kernel->threads, {&iterations});
  const double flops = kernel->flops * kTensorIterations * blocks;
  return ns > 0 ? std::optional(flops / ns * 1e9) : std::nullopt;
}

/// Names of the rates in JSON, and their members.
constexpr std::pair<const char *, std::optional<double> model::DeviceInfo::*> kRates[] = {
    {"copy", &model::DeviceInfo::copy_bytes_per_s},
    {"fp32", &model::DeviceInfo::fp32_flops_per_s},
    {"tf32", &model::DeviceInfo::tf32_flops_per_s},
    {"bf16", &model::DeviceInfo::bf16_flops_per_s}};

/// Reads the rates from kRatesVariable. @return whether the copy and FP32 rates are known
bool take_told(model::DeviceInfo &info) {
  const char *told = std::getenv(kRatesVariable);
  const auto document = nlohmann::json::parse(told ? told : "", nullptr, false);
  if (!document.is_object())
    return false;
  for (const auto &[name, member] : kRates)
    if (const auto found = document.find(name); found != document.end() && found->is_number())
      info.*member = found->get<double>();
  return info.copy_bytes_per_s && info.fp32_flops_per_s;
}

} // namespace

void add_rates(const Driver &driver, CUstream stream, Compiler &compiler, GpuTimer &timer,
               int capability, int multiprocessors, model::DeviceInfo &info) {
  info.probe_ns = told_probe_ns();
  info.bracket_ns =
      timer.measure_bracket(info.probe_ns); // differs between processes with and without tracing
  if (take_told(info))
    return;
  info.copy_bytes_per_s = measure_copy(driver, stream, info.memory_bytes);
  info.fp32_flops_per_s = measure_fp32(driver, stream, compiler, multiprocessors);
  info.tf32_flops_per_s =
      measure_tensor(driver, stream, compiler, capability, multiprocessors, TensorType::Tf32);
  info.bf16_flops_per_s =
      measure_tensor(driver, stream, compiler, capability, multiprocessors, TensorType::Bf16);
}

nlohmann::json rates_to_json(const model::DeviceInfo &info) {
  nlohmann::json document = nlohmann::json::object();
  for (const auto &[name, member] : kRates)
    if (info.*member)
      document[name] = *(info.*member);
  return document;
}

} // namespace warpwright::runner::cuda
