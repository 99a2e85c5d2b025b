// Opening of CUPTI and the meaning of its errors.
#include "runner/capture/cupti_calls.h"

#include "runner/cuda/toolkit.h"

namespace warpwright::capture {
namespace {

/// A program such as PyTorch brings a CUPTI along, and a process should have one only.
std::vector<std::string> candidates() {
  std::vector<std::string> paths;
  for (const char *name : {"libcupti.so.13", "libcupti.so.12"})
    if (void *loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) {
      dlclose(loaded);
      paths.emplace_back(name);
    }
  for (std::string &path : cuda::find_toolkit().cupti)
    paths.push_back(std::move(path));
  return paths;
}

} // namespace

Result<Cupti> Cupti::open() {
  Cupti cupti;
  cupti.library = SharedLibrary(candidates());
  if (!cupti.library.is_open())
    return fail("libcupti was not found", "Install the CUDA toolkit's CUPTI, or set CUDA_HOME");
  const char *missing = nullptr;
#define WARPWRIGHT_LOAD(member, symbol, ...)                                                       \
  if (!(cupti.member = cupti.library.find<__VA_ARGS__>(symbol)))                                   \
    missing = symbol;
  WARPWRIGHT_CUPTI_FUNCTIONS(WARPWRIGHT_LOAD)
#undef WARPWRIGHT_LOAD
  if (missing)
    return fail(cupti.library.path() + " lacks " + missing, "Install CUPTI of CUDA 12 or later");
  return cupti;
}

std::string reason_of(CuptiStatus status) {
  switch (status) {
  case kMaxLimitReached:
  case kMultipleSubscribers:
    return "another profiler or debugger holds CUPTI";
  case kInsufficientPrivileges:
    return "the driver lets only administrators profile (NVreg_RestrictProfilingToAdminUsers)";
  default:
    return "CUPTI's error " + std::to_string(status);
  }
}

} // namespace warpwright::capture
