// The part of CUPTI that the capture library uses, opened at run time.
//
// The declarations are written by hand, so that the project builds on machines without a toolkit.
// Names, values and layouts are those of cupti_callbacks.h, cupti_activity.h and
// cupti_driver_cbid.h of CUDA 12 and 13, which agree in the members declared here.
#pragma once

#include "runner/cuda/driver.h"

#include <cstddef>
#include <cstdint>

namespace warpwright::capture {

namespace cuda = runner::cuda;

/// CUptiResult: 0 is success.
using CuptiStatus = int;
/// CUPTI_ERROR_MAX_LIMIT_REACHED, _INSUFFICIENT_PRIVILEGES, _MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED.
inline constexpr CuptiStatus kMaxLimitReached = 12, kInsufficientPrivileges = 35,
                             kMultipleSubscribers = 39;

/// CUpti_CallbackDomain.
enum : int { kDriverApiDomain = 1, kResourceDomain = 3 };

/// CUpti_CallbackIdResource.
enum : std::uint32_t {
  kModuleLoaded = 6,
  kModuleUnloadStarting = 7,
  kGraphNodeCreated = 13,
  kGraphNodeCloned = 20,
};

/// CUpti_driver_api_trace_cbid of launches. Copies and fills: copy_reader.cpp.
enum : std::uint32_t {
  kLaunchKernel = 307,
  kLaunchKernelPtsz = 442,
  kLaunchCooperativeKernel = 477,
  kLaunchCooperativeKernelPtsz = 478,
  kLaunchKernelEx = 652,
  kLaunchKernelExPtsz = 653,
  kGraphLaunch = 514,
  kGraphLaunchPtsz = 515,
};

/// CUpti_CallbackData.
struct ApiCall {
  int site; ///< 0: the call begins, 1: it has ended
  const char *function;
  const void *parameters; ///< CALL_params of generated_cuda_meta.h
  const int *status;      ///< valid at the end
  const char *symbol;     ///< kernel's mangled name, of launches
  cuda::CUcontext context;
  std::uint32_t context_uid;
  std::uint64_t *own_data; ///< 64 bits for the subscriber, from the call's begin to its end
  std::uint32_t correlation;
};

/// CUpti_ResourceData. Its descriptor is a CUpti_GraphData or a CUpti_ModuleResourceData.
struct ResourceData {
  cuda::CUcontext context;
  void *stream;
  const void *descriptor;
};
struct GraphData {
  void *graph, *original_graph, *node, *original_node;
};
struct ModuleData {
  std::uint32_t id;
  std::size_t size_bytes;
  const char *cubin;
};

/// CUpti_ActivityKind.
enum : int { kCopyRecord = 1, kFillRecord = 2, kKernelRecord = 10, kPeerCopyRecord = 22 };

/// Offsets in a record. All kinds above have their times in the same place.
inline constexpr std::size_t kRecordStart = 16, kRecordEnd = 24;
struct RecordPlaces {
  std::size_t correlation, graph_node;
};
/// Of CUpti_ActivityMemcpy5 and 6, and CUpti_ActivityMemset3 and 4.
inline constexpr RecordPlaces kCopyPlaces{44, 64};
/// Of CUpti_ActivityMemcpyPtoP4.
inline constexpr RecordPlaces kPeerCopyPlaces{60, 72};
/// Of CUpti_ActivityKernel8, 9 and 10.
inline constexpr RecordPlaces kKernelPlaces{92, 144};
inline constexpr std::size_t kKernelGrid = 52, kKernelBlock = 64, kKernelSharedBytes = 80,
                             kKernelName = 104;

using Callback = void(void *user, int domain, std::uint32_t id, const void *data);
using BufferWanted = void(std::uint8_t **buffer, std::size_t *size, std::size_t *most_records);
using BufferFull = void(cuda::CUcontext, std::uint32_t stream, std::uint8_t *buffer,
                        std::size_t size, std::size_t valid);

#define WARPWRIGHT_CUPTI_FUNCTIONS(X)                                                              \
  X(subscribe, "cuptiSubscribe", CuptiStatus(void **, Callback *, void *))                         \
  X(unsubscribe, "cuptiUnsubscribe", CuptiStatus(void *))                                          \
  X(enable_callback, "cuptiEnableCallback",                                                        \
    CuptiStatus(std::uint32_t, void *, int, std::uint32_t))                                        \
  X(register_buffers, "cuptiActivityRegisterCallbacks", CuptiStatus(BufferWanted *, BufferFull *)) \
  X(enable_records, "cuptiActivityEnable", CuptiStatus(int))                                       \
  X(disable_records, "cuptiActivityDisable", CuptiStatus(int))                                     \
  X(next_record, "cuptiActivityGetNextRecord",                                                     \
    CuptiStatus(std::uint8_t *, std::size_t, unsigned char **))                                    \
  X(flush, "cuptiActivityFlushAll", CuptiStatus(std::uint32_t))                                    \
  X(graph_node_id, "cuptiGetGraphNodeId", CuptiStatus(void *, std::uint64_t *))

struct Cupti {
  SharedLibrary library;
#define WARPWRIGHT_DECLARE(member, symbol, ...) std::add_pointer_t<__VA_ARGS__> member = nullptr;
  WARPWRIGHT_CUPTI_FUNCTIONS(WARPWRIGHT_DECLARE)
#undef WARPWRIGHT_DECLARE

  /// Opens the libcupti that the program has loaded, else the toolkit's. Errors: no library, or one
  /// that lacks a function.
  static Result<Cupti> open();
};

/// Reason for a CUPTI status, for people: "another profiler or debugger is in use".
std::string reason_of(CuptiStatus status);

} // namespace warpwright::capture
