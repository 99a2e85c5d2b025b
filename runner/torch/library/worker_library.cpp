// Implementation of the functions that Python calls: isolation, worker loop, answers and executor.
#include "runner/torch/library/worker_library.h"
#include "runner/cuda/cuda_torch.h"
#include "runner/torch/executor.h"
#include "runner/torch/library/foreign_timer.h"
#include "runner/torch/library/library_device.h"
#include "runner/worker/worker.h"

#include <exception>
#include <iostream>
#include <optional>

namespace {

using namespace warpwright;
using namespace warpwright::runner;

/// Set by warpwright_enter(), taken by warpwright_run().
std::optional<WorkerEntry> entry;

int complain(const std::string &what) {
  std::cerr << what << std::endl;
  return 2;
}

} // namespace

int32_t warpwright_enter(void) {
  try {
    auto entered = enter_worker([] { return Isolation::resume(WorkerKind::Python); });
    if (!entered)
      return complain(describe(entered.error()));
    entry = std::move(*entered);
    return 0;
  } catch (const std::exception &error) {
    return complain(error.what());
  }
}

int32_t warpwright_seal_candidate(void) {
  try {
    Isolation::resume(WorkerKind::Candidate).seal();
    return 0;
  } catch (const std::exception &error) {
    return complain(error.what());
  }
}

const char *warpwright_timer(const char *request, const warpwright_callbacks *callbacks) {
  static ForeignTimer timer;
  static std::string answer;
  try {
    answer = timer.answer(nlohmann::json::parse(request), *callbacks).dump();
  } catch (const std::exception &error) {
    answer = ForeignTimer::failed("internal", error.what()).dump();
  }
  return answer.c_str();
}

int32_t warpwright_run(const char *device, const warpwright_callbacks *callbacks) {
  try {
    if (!entry)
      return complain("warpwright_enter() was not called");
    auto host = cuda::CudaTorch::make(callbacks->request);
    if (!host)
      return complain(describe(host.error()));
    const WorkerEntry entered = std::move(*std::exchange(entry, std::nullopt));
    return run_worker(entered, [&] { return make_library_device(device, **host); });
  } catch (const std::exception &error) {
    return complain(std::string("the worker failed: ") + error.what());
  }
}

void warpwright_answer(const char *text, int64_t size) {
  cuda::CudaTorch::take_answer(text, static_cast<std::size_t>(size));
}

void warpwright_give_turn(void) { give_device_turn(); }
void warpwright_take_turn(void) { take_device_turn(); }

int32_t warpwright_start_group(int64_t executor, int64_t group, const uint64_t *addresses) {
  return reinterpret_cast<CallExecutor *>(executor)->start_group(static_cast<std::size_t>(group),
                                                                 addresses);
}
