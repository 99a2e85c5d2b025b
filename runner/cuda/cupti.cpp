#include "runner/cuda/cupti.h"
#include "runner/cuda/toolkit.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace warpwright::runner::cuda {
namespace {

constexpr int kConcurrentKernel = 10; ///< CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
constexpr std::uint32_t kFlushForced = 1;
constexpr std::size_t kBufferBytes = 1 << 20, kStartOffset = 16, kEndOffset = 24, kNameOffset = 104;

using NextRecord = int(std::uint8_t *, std::size_t, unsigned char **);

/// State of the trace. It is global because CUPTI's callbacks have no user argument.
struct Trace {
  std::mutex mutex;
  NextRecord *next = nullptr;
  std::map<std::string, std::vector<double>> durations;
};
Trace &trace() {
  static Trace whole;
  return whole;
}

template <class T>
T read(const unsigned char *record, std::size_t offset) {
  T value{};
  std::memcpy(&value, record + offset, sizeof value);
  return value;
}

void on_buffer_wanted(std::uint8_t **buffer, std::size_t *size, std::size_t *most_records) {
  *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer ? kBufferBytes : 0;
  *most_records = 0;
}

void on_buffer_full(void *, std::uint32_t, std::uint8_t *buffer, std::size_t, std::size_t valid) {
  const std::lock_guard lock(trace().mutex);
  unsigned char *record = nullptr;
  while (valid > 0 && trace().next(buffer, valid, &record) == 0)
    if (read<std::uint32_t>(record, 0) == kConcurrentKernel)
      if (const auto *name = read<const char *>(record, kNameOffset))
        trace().durations[name].push_back(static_cast<double>(
            read<std::uint64_t>(record, kEndOffset) - read<std::uint64_t>(record, kStartOffset)));
  std::free(buffer);
}

} // namespace

Result<Cupti> Cupti::start() {
  Cupti cupti;
  cupti.library_ = SharedLibrary(find_toolkit().cupti);
  if (!cupti.library_.is_open())
    return fail("libcupti was not found", "Install the CUDA toolkit's CUPTI, or set CUDA_HOME");
  const SharedLibrary &library = cupti.library_;
  auto *enable = library.find<int(int)>("cuptiActivityEnable");
  auto *take_callbacks = library.find<int(decltype(&on_buffer_wanted), decltype(&on_buffer_full))>(
      "cuptiActivityRegisterCallbacks");
  trace().next = library.find<NextRecord>("cuptiActivityGetNextRecord");
  if (!enable || !take_callbacks || !trace().next)
    return fail(library.path() + " lacks the activity API");
  int status = take_callbacks(on_buffer_wanted, on_buffer_full);
  status = status ? status : enable(kConcurrentKernel);
  if (status != 0)
    return fail(library.path() + " refuses to trace kernels, with CUPTI's error " +
                    std::to_string(status),
                "See the driver's NVreg_RestrictProfilingToAdminUsers");
  return cupti;
}

std::vector<double> Cupti::durations_of(const std::string &kernel) {
  if (auto *flush = library_.find<int(std::uint32_t)>("cuptiActivityFlushAll"))
    flush(kFlushForced);
  const std::lock_guard lock(trace().mutex);
  return trace().durations[kernel];
}

} // namespace warpwright::runner::cuda
