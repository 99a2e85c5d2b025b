// Implementation of function_launch.h.
#include "runner/cuda/function_launch.h"

#include "runner/cuda/device_info.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace warpwright::runner::cuda {
namespace {

constexpr std::uint32_t kDefaultSharedBytes =
    48 * 1024; ///< larger sizes need opt-in (CUDA guide, 20.7.3)

constexpr std::size_t kMostMaps = 8;  ///< of a launch
constexpr Status kNotSupported = 801; ///< CUDA_ERROR_NOT_SUPPORTED
struct alignas(64) EncodedMap {
  std::array<unsigned char, kTensorMapBytes> bytes;
};

Status encode(const Driver &driver, const ArgumentValue &argument, EncodedMap &encoded) {
  constexpr int kNoInterleave = 0, kPromote256 = 3, kFillZeros = 0;
  constexpr std::size_t kMostDimensions = 5;
  const plan::TensorMap &map = *argument.map;
  if (!driver.cuTensorMapEncodeTiled || !driver.cuTensorMapEncodeIm2col || map.driver_dtype() < 0)
    return kNotSupported;
  std::array<std::uint64_t, kMostDimensions> extents{}, strides{};
  std::array<std::uint32_t, kMostDimensions> box{}, steps{};
  std::ranges::copy(map.extents, extents.begin());
  std::ranges::copy(map.strides_bytes(), strides.begin());
  std::ranges::copy(map.box, box.begin());
  steps.fill(1);
  void *address = nullptr;
  std::memcpy(&address, argument.bytes.data(), sizeof address);
  const auto rank = static_cast<std::uint32_t>(map.extents.size());
  if (!map.window)
    return driver.cuTensorMapEncodeTiled(&encoded, map.driver_dtype(), rank, address, extents.data(),
                                         strides.data(), box.data(), steps.data(), kNoInterleave,
                                         map.driver_swizzle(), kPromote256, kFillZeros);
  const std::vector<int> first(map.window->first.begin(), map.window->first.end()),
      last(map.window->last.begin(), map.window->last.end());
  std::ranges::copy(map.window->steps, steps.begin() + 1); // of the channels 1
  return driver.cuTensorMapEncodeIm2col(&encoded, map.driver_dtype(), rank, address, extents.data(),
                                        strides.data(), first.data(), last.data(), box[0], box[1],
                                        steps.data(), kNoInterleave, map.driver_swizzle(),
                                        kPromote256, kFillZeros);
}

DeviceResult<void> ask_for_shared(const Driver &driver, CUdevice device, CUfunction function,
                                  const LaunchOperation &launch) {
  const int most = attribute(driver, kMaxSharedBytes, device);
  int own = 0; // static shared memory of the kernel
  driver.cuFuncGetAttribute(&own, kFunctionSharedBytes, function);
  const std::int64_t wanted = std::int64_t{launch.shared_bytes} + own;
  if (most > 0 && wanted > most)
    return fault(Fault::Kind::Unsupported, launch.kernel_name + " needs " + std::to_string(wanted) +
                                               " bytes of shared memory a block, this device has " +
                                               std::to_string(most));
  const Status status = driver.cuFuncSetAttribute(function, kFunctionMaxDynamicShared,
                                                  static_cast<int>(launch.shared_bytes));
  if (status != 0)
    return std::unexpected(driver.to_fault(status, launch.kernel_name + " asks for " +
                                                       std::to_string(launch.shared_bytes) +
                                                       " bytes of shared memory"));
  return {};
}

} // namespace

Result<std::int64_t> resident_blocks(const Driver &driver, CUdevice device, CUfunction function,
                                     const LaunchOperation &launch) {
  if (attribute(driver, kCooperativeLaunch, device) == 0)
    return 0;
  int blocks = 0;
  const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  if (const Status status = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
          &blocks, function, threads, launch.shared_bytes);
      status != 0)
    return fail("asking how many blocks of " + launch.kernel_name +
                " a multiprocessor holds: " + driver.text(status));
  return std::int64_t{blocks} * attribute(driver, kMultiprocessorCount, device);
}

DeviceResult<void> make_ready(const Driver &driver, CUdevice device, CUfunction function,
                              const LaunchOperation &launch) {
  if (launch.shared_bytes > kDefaultSharedBytes)
    TRY(ask_for_shared(driver, device, function, launch));
  if (!launch.cooperative)
    return {};
  const auto held = resident_blocks(driver, device, function, launch);
  if (!held)
    return fault(Fault::Kind::Internal, held.error().message);
  const std::int64_t wanted =
      std::int64_t{launch.grid[0]} * launch.grid[1] * std::int64_t{launch.grid[2]};
  if (wanted > *held)
    return fault(Fault::Kind::Unsupported, launch.kernel_name + " needs " + std::to_string(wanted) +
                                               " resident blocks, this device holds " +
                                               std::to_string(*held));
  return {};
}

Status start(const Driver &driver, CUfunction function, const LaunchOperation &launch,
             CUstream stream, void **arguments) {
  std::array<EncodedMap, kMostMaps> maps;
  std::size_t used = 0;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i)
    if (launch.arguments[i].map) {
      if (used == kMostMaps)
        return kNotSupported;
      if (const Status status = encode(driver, launch.arguments[i], maps[used]); status != 0)
        return status;
      arguments[i] = &maps[used++]; // the driver copies it before it returns
    }
  if (launch.cooperative)
    return driver.cuLaunchCooperativeKernel(
        function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
        launch.block[2], launch.shared_bytes, stream, arguments);
  if (launch.overlapped) {
    LaunchAttribute overlapped{.id = kProgrammaticStreamSerialization};
    overlapped.number = 1;
    const LaunchConfig config{{launch.grid[0], launch.grid[1], launch.grid[2]},
                              {launch.block[0], launch.block[1], launch.block[2]},
                              launch.shared_bytes,
                              stream,
                              &overlapped,
                              1};
    return driver.cuLaunchKernelEx(&config, function, arguments, nullptr);
  }
  return driver.cuLaunchKernel(function, launch.grid[0], launch.grid[1], launch.grid[2],
                               launch.block[0], launch.block[1], launch.block[2],
                               launch.shared_bytes, stream, arguments, nullptr);
}

} // namespace warpwright::runner::cuda
