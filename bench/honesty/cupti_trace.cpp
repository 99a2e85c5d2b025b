// Writes when each kernel and memset of a process began and ended on the GPU, as CUPTI's activity records say.
//
// A library for CUDA_INJECTION64_PATH: the driver loads it into any CUDA program and calls InitializeInjection. Lines go
// to $WARPWRIGHT_TRACE: "K start end graph_node name" and "M start end bytes", times in ns, graph_node 0 for a
// launch outside a graph. libcupti is opened at run time ($WARPWRIGHT_CUPTI, else libcupti.so.13), so that only its
// headers are needed to build. Records are asked for five times a second, because a worker ends without exit handlers.
// Omits copies, API calls and everything that would cost more. Threads: CUPTI's own and one of this library's.
//
// g++ -std=c++17 -O2 -shared -fPIC -I$CUDA/include cupti_trace.cpp -o cupti_trace.so -ldl -pthread
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cupti.h>
#include <dlfcn.h>
#include <mutex>
#include <thread>

#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#else
using KernelRecord = CUpti_ActivityKernel9;
#endif
using MemsetRecord = CUpti_ActivityMemset4;

namespace {

constexpr std::size_t kBufferBytes = 8 << 20;
constexpr std::size_t kAlignment = 8;

FILE *trace = nullptr;
std::mutex trace_mutex;
decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
decltype(&cuptiActivityFlushAll) flush_all = nullptr;

void CUPTIAPI on_buffer_wanted(std::uint8_t **buffer, std::size_t *size, std::size_t *max_records) {
  *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(kAlignment, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *max_records = 0;
}

void write_record(const CUpti_Activity *record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto *kernel = reinterpret_cast<const KernelRecord *>(record);
    std::fprintf(trace, "K %llu %llu %llu %s\n", static_cast<unsigned long long>(kernel->start),
                 static_cast<unsigned long long>(kernel->end),
                 static_cast<unsigned long long>(kernel->graphNodeId),
                 kernel->name ? kernel->name : "?");
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    const auto *memset = reinterpret_cast<const MemsetRecord *>(record);
    std::fprintf(trace, "M %llu %llu %llu\n", static_cast<unsigned long long>(memset->start),
                 static_cast<unsigned long long>(memset->end),
                 static_cast<unsigned long long>(memset->bytes));
  }
}

void CUPTIAPI on_buffer_full(CUcontext, std::uint32_t, std::uint8_t *buffer, std::size_t,
                             std::size_t valid) {
  const std::lock_guard lock(trace_mutex);
  CUpti_Activity *record = nullptr;
  while (valid > 0 && next_record(buffer, valid, &record) == CUPTI_SUCCESS)
    write_record(record);
  std::fflush(trace);
  std::free(buffer);
}

template <class Function>
bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function)
    std::fprintf(stderr, "cupti_trace: libcupti has no %s\n", name);
  return function != nullptr;
}

bool passed(CUptiResult result, const char *what) {
  if (result != CUPTI_SUCCESS)
    std::fprintf(stderr, "cupti_trace: %s failed with %d\n", what, static_cast<int>(result));
  return result == CUPTI_SUCCESS;
}

} // namespace

/// Called by the CUDA driver. Non-zero: set up.
extern "C" int InitializeInjection() {
  const char *path = std::getenv("WARPWRIGHT_TRACE"), *named = std::getenv("WARPWRIGHT_CUPTI");
  if (!path || trace)
    return 1;
  const char *library_name = named ? named : "libcupti.so.13";
  void *library = dlopen(library_name, RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "cupti_trace: %s\n", dlerror());
    return 0;
  }
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  if (!find(library, "cuptiActivityRegisterCallbacks", register_callbacks) ||
      !find(library, "cuptiActivityEnable", enable) ||
      !find(library, "cuptiActivityGetNextRecord", next_record) ||
      !find(library, "cuptiActivityFlushAll", flush_all))
    return 0;
  trace = std::fopen(path, "a");
  if (!trace) {
    std::fprintf(stderr, "cupti_trace: cannot write %s\n", path);
    return 0;
  }
  if (!passed(register_callbacks(on_buffer_wanted, on_buffer_full), "registering callbacks") ||
      !passed(enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "asking for kernels") ||
      !passed(enable(CUPTI_ACTIVITY_KIND_MEMSET), "asking for memsets"))
    return 0;
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500)); // the driver is still starting
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      flush_all(0);
    }
  }).detach();
  std::fprintf(stderr, "cupti_trace: writing %s\n", path);
  return 1;
}
