// Best of several runs: a ceiling is a maximum. Copy of 1 GiB where memory allows; FP32 by chains
// of fused multiply-adds in registers, with enough of them independent to fill the pipelines.
#include "runner/cuda/rates.h"
#include "runner/cuda/handles.h"
#include "support/hash.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace warpwright::runner::cuda {
namespace {

constexpr int kRuns = 7, kThreads = 256, kBlocksPerMultiprocessor = 8, kIterations = 4096,
              kChains = 8;

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

/// Shortest of several runs, ns; 0 when something fails.
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

std::optional<double> measure_fp32(const Driver &driver, CUstream stream, Compiler &compiler,
                                   int multiprocessors) {
  auto output = compiler.compile({kFmaSource, {}, {"ww_fma"}});
  CUmodule loaded = nullptr;
  CUfunction function = nullptr;
  if (!output || driver.cuModuleLoadData(&loaded, output->code.cubin.data()) != 0)
    return std::nullopt;
  const Module module(driver, loaded);
  const Memory out = allocate(driver, 256);
  if (!out || driver.cuModuleGetFunction(&function, loaded, "ww_fma") != 0)
    return std::nullopt;
  CUdeviceptr address = out.get();
  float factor = 0.999F;
  int iterations = kIterations;
  void *arguments[] = {&address, &factor, &iterations};
  const unsigned blocks = static_cast<unsigned>(multiprocessors * kBlocksPerMultiprocessor);
  const double ns = best_ns(driver, stream, [&] {
    return driver.cuLaunchKernel(function, blocks, 1, 1, kThreads, 1, 1, 0, stream, arguments,
                                 nullptr);
  });
  const double flops = 2.0 * kChains * kIterations * kThreads * blocks;
  return ns > 0 ? std::optional(flops / ns * 1e9) : std::nullopt;
}

} // namespace

void add_rates(const Driver &driver, CUstream stream, Compiler &compiler, int multiprocessors,
               model::DeviceInfo &info) {
  namespace fs = std::filesystem;
  const fs::path directory = cache_directory();
  const fs::path file =
      directory / ("rates-" + sha256_hex(info.identifier + info.driver).substr(0, 16) + ".json");
  if (std::ifstream cached(file); !directory.empty() && cached) {
    const auto document = nlohmann::json::parse(cached, nullptr, false);
    if (document.is_object() && document.contains("copy") && document.contains("fp32")) {
      info.copy_bytes_per_s = document["copy"].get<double>();
      info.fp32_flops_per_s = document["fp32"].get<double>();
      return;
    }
  }
  info.copy_bytes_per_s = measure_copy(driver, stream, info.memory_bytes);
  info.fp32_flops_per_s = measure_fp32(driver, stream, compiler, multiprocessors);
  if (directory.empty() || !info.copy_bytes_per_s || !info.fp32_flops_per_s)
    return;
  std::error_code error;
  fs::create_directories(directory, error);
  const fs::path temporary = file.string() + "." + std::to_string(getpid());
  std::ofstream(temporary) << nlohmann::json{{"copy", *info.copy_bytes_per_s},
                                             {"fp32", *info.fp32_flops_per_s}};
  fs::rename(temporary, file, error);
}

} // namespace warpwright::runner::cuda
