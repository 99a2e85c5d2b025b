// The part of the CUDA driver API that the runner uses, opened at run time.
//
// The declarations do not come from cuda.h, so that the project builds on machines without a
// toolkit. Names, values and signatures are those of the CUDA Driver API reference (13.0). Symbols
// have the suffix that cuda.h's macros would add. Thread: the driver is thread-safe; the context is
// current on one thread, the job thread.
#pragma once

#include "support/shared_library.h"
#include "runner/device/device.h"
#include "support/error.h"

#include <cstddef>
#include <cstdint>

namespace warpwright::runner::cuda {

using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;

/// CUresult: 0 is success.
using Status = int;
inline constexpr Status kNotReady = 600;
/// CU_LIMIT_PERSISTING_L2_CACHE_SIZE
inline constexpr int kLimitPersistingL2 = 6;

/// CUdevice_attribute and CUfunction_attribute values.
enum : int {
  kMaxThreadsPerMultiprocessor = 39,
  kL2CacheBytes = 38,
  kMultiprocessorCount = 16,
  kClockKhz = 13,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionMaxDynamicShared = 8,
  kCooperativeLaunch = 95,
  kSharedBytesMultiprocessor = 81,
  kRegistersMultiprocessor = 82,
  kMaxSharedBytes = 97, ///< per block, with opt-in
};

/// CUlaunchAttribute and CUlaunchConfig of cuda.h.
struct LaunchAttribute {
  int id = 0;
  char padding[4] = {};
  union {
    char bytes[64] = {};
    int number;
  };
};
struct LaunchConfig {
  unsigned grid[3] = {}, block[3] = {}, shared_bytes = 0;
  CUstream stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned attribute_count = 0;
};
inline constexpr int kProgrammaticStreamSerialization = 6;

#define WARPWRIGHT_DRIVER_FUNCTIONS(X)                                                             \
  X(cuInit, "cuInit", Status(unsigned))                                                            \
  X(cuDriverGetVersion, "cuDriverGetVersion", Status(int *))                                       \
  X(cuGetErrorName, "cuGetErrorName", Status(Status, const char **))                               \
  X(cuGetErrorString, "cuGetErrorString", Status(Status, const char **))                           \
  X(cuDeviceGetCount, "cuDeviceGetCount", Status(int *))                                           \
  X(cuDeviceGet, "cuDeviceGet", Status(CUdevice *, int))                                           \
  X(cuDeviceGetName, "cuDeviceGetName", Status(char *, int, CUdevice))                             \
  X(cuDeviceGetUuid, "cuDeviceGetUuid_v2", Status(unsigned char *, CUdevice))                      \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", Status(int *, int, CUdevice))                    \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", Status(std::size_t *, CUdevice))                      \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", Status(CUcontext *, CUdevice))           \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", Status(CUdevice))                   \
  X(cuCtxSetCurrent, "cuCtxSetCurrent", Status(CUcontext))                                         \
  X(cuCtxGetLimit, "cuCtxGetLimit", Status(std::size_t *, int))                                    \
  X(cuCtxSetLimit, "cuCtxSetLimit", Status(int, std::size_t))                                      \
  X(cuCtxResetPersistingL2Cache, "cuCtxResetPersistingL2Cache", Status())                          \
  X(cuMemAlloc, "cuMemAlloc_v2", Status(CUdeviceptr *, std::size_t))                               \
  X(cuMemFree, "cuMemFree_v2", Status(CUdeviceptr))                                                \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                     \
    Status(CUdeviceptr, const void *, std::size_t, CUstream))                                      \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", Status(void *, CUdeviceptr, std::size_t, CUstream)) \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                     \
    Status(CUdeviceptr, CUdeviceptr, std::size_t, CUstream))                                       \
  X(cuMemsetD8Async, "cuMemsetD8Async", Status(CUdeviceptr, unsigned char, std::size_t, CUstream)) \
  X(cuMemsetD32Async, "cuMemsetD32Async", Status(CUdeviceptr, unsigned, std::size_t, CUstream))    \
  X(cuModuleLoadData, "cuModuleLoadData", Status(CUmodule *, const void *))                        \
  X(cuModuleUnload, "cuModuleUnload", Status(CUmodule))                                            \
  X(cuModuleGetFunction, "cuModuleGetFunction", Status(CUfunction *, CUmodule, const char *))      \
  X(cuFuncGetAttribute, "cuFuncGetAttribute", Status(int *, int, CUfunction))                      \
  X(cuFuncSetAttribute, "cuFuncSetAttribute", Status(CUfunction, int, int))                        \
  X(cuLaunchKernel, "cuLaunchKernel",                                                              \
    Status(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
           CUstream, void **, void **))                                                            \
  X(cuLaunchKernelEx, "cuLaunchKernelEx",                                                          \
    Status(const LaunchConfig *, CUfunction, void **, void **))                                    \
  X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel",                                        \
    Status(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,       \
           CUstream, void **))                                                                     \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor",    \
    Status(int *, CUfunction, int, std::size_t))                                                   \
  X(cuStreamCreate, "cuStreamCreate", Status(CUstream *, unsigned))                                \
  X(cuStreamDestroy, "cuStreamDestroy_v2", Status(CUstream))                                       \
  X(cuStreamQuery, "cuStreamQuery", Status(CUstream))                                              \
  X(cuStreamBeginCapture, "cuStreamBeginCapture_v2", Status(CUstream, int))                        \
  X(cuStreamEndCapture, "cuStreamEndCapture", Status(CUstream, CUgraph *))                         \
  X(cuGraphInstantiate, "cuGraphInstantiateWithFlags",                                             \
    Status(CUgraphExec *, CUgraph, unsigned long long))                                            \
  X(cuGraphLaunch, "cuGraphLaunch", Status(CUgraphExec, CUstream))                                 \
  X(cuGraphExecDestroy, "cuGraphExecDestroy", Status(CUgraphExec))                                 \
  X(cuGraphDestroy, "cuGraphDestroy", Status(CUgraph))                                             \
  X(cuEventCreate, "cuEventCreate", Status(CUevent *, unsigned))                                   \
  X(cuEventDestroy, "cuEventDestroy_v2", Status(CUevent))                                          \
  X(cuEventRecord, "cuEventRecord", Status(CUevent, CUstream))                                     \
  X(cuEventRecordWithFlags, "cuEventRecordWithFlags", Status(CUevent, CUstream, unsigned))         \
  X(cuEventElapsedTime, "cuEventElapsedTime", Status(float *, CUevent, CUevent))

struct Driver {
  SharedLibrary library;
  /// Set when a kernel does not end. Owners then free nothing, because freeing would block behind
  /// the kernel, and the process ends anyway.
  bool abandoned = false;
#define WARPWRIGHT_DECLARE(member, symbol, ...) std::add_pointer_t<__VA_ARGS__> member = nullptr;
  WARPWRIGHT_DRIVER_FUNCTIONS(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE
  /// Available from CUDA 12.0 on; null before. Types of maps and enumerators are those of cuda.h.
  Status (*cuTensorMapEncodeTiled)(void *map, int dtype, std::uint32_t rank, void *address,
                                   const std::uint64_t *extents, const std::uint64_t *strides_bytes,
                                   const std::uint32_t *box, const std::uint32_t *element_strides,
                                   int interleave, int swizzle, int l2_promotion, int fill) = nullptr;
  Status (*cuTensorMapEncodeIm2col)(void *map, int dtype, std::uint32_t rank, void *address,
                                    const std::uint64_t *extents, const std::uint64_t *strides_bytes,
                                    const int *lower_corner, const int *upper_corner,
                                    std::uint32_t channels, std::uint32_t pixels,
                                    const std::uint32_t *element_strides, int interleave, int swizzle,
                                    int l2_promotion, int fill) = nullptr;
  /// Available from CUDA 12.4 on; null before.
  Status (*cuFuncGetParamInfo)(CUfunction, std::size_t, std::size_t *, std::size_t *) = nullptr;

  /// Opens libcuda and initializes the driver.
  /// Errors: no driver, a driver that is too old (with the missing function), no device; each with
  /// a remedy.
  static Result<Driver> load();
  /// Name and text of a status: "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was
  /// encountered".
  std::string text(Status status) const;
  /// The fault for a failed call, classified by its status.
  /// @param what the operation that failed, for the message
  Fault to_fault(Status status, const std::string &what) const;
};

} // namespace warpwright::runner::cuda
