#include "runner/service/compile_ahead.h"
#include "runner/service/devices.h"
#include "support/model/json.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace warpwright::runner {
namespace {

constexpr std::size_t kMostProcesses = 16;
/// A compile that exceeds a timeout of at least this counts as one that never ends, because it
/// would block the GPU as long. With a shorter timeout, the CPU core may only have been slow.
constexpr std::chrono::seconds kFairTime{10};

model::DeviceInfo compiler_info(int capability) {
  model::DeviceInfo info;
  info.kind = "cuda";
  info.name =
      "the compiler for " + std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  return info;
}

CompileAhead::Answer judge(const rpc::Outcome &outcome, std::chrono::milliseconds timeout) {
  if (!outcome)
    return {};
  auto verdict = model::verdict_from_json(*outcome);
  if (!verdict)
    return {};
  const bool compiles = std::ranges::any_of(verdict->checks, [](const model::Check &check) {
    return check.name == "compiles" && check.passed;
  });
  CompileAhead::Answer answer{.in_cache = compiles, .refused = {}};
  const bool never_ends = verdict->outcome == model::Outcome::Timeout && timeout >= kFairTime;
  if (verdict->outcome == model::Outcome::CompileFailed || never_ends)
    answer.refused = std::move(*verdict);
  return answer;
}

} // namespace

CompileAhead::CompileAhead(boost::asio::any_io_executor executor, CompileAheadSettings settings)
    : executor_(executor), settings_(std::move(settings)) {}

CompileAhead::~CompileAhead() { stop(); }

bool CompileAhead::has_free_process() const {
  return slots_.size() < settings_.processes ||
         std::ranges::any_of(slots_, [](const auto &slot) { return !slot->done; });
}

void CompileAhead::compile(const QueuedJob &wanted, int capability, Done done) {
  QueuedJob job;
  job.id = wanted.id;
  job.client = wanted.client;
  job.owner = wanted.owner;
  job.task_hash = wanted.task_hash;
  job.code_hash = wanted.code_hash;
  job.plan_hash = wanted.plan_hash;
  job.options = wanted.options;
  job.options.measure = job.options.hidden_sizes = job.options.deep = job.options.profile = false;
  job.request = wanted.request;
  job.request["options"] = model::to_json(job.options);
  job.ran_again = true; // a lost compile worker does not justify a second run
  job.on_stage = [](const std::string &, const std::string &) {};
  Slot &slot = free_slot(capability, job);
  slot.done = std::move(done);
  job.done = [&slot, timeout = job.options.timeout](const rpc::Outcome &outcome) {
    if (const Done answer = std::exchange(slot.done, nullptr))
      answer(judge(outcome, timeout));
  };
  slot.worker->submit(std::move(job));
}

void CompileAhead::stop() {
  for (const auto &slot : slots_) {
    slot->done = nullptr;
    slot->worker->stop();
  }
}

CompileAhead::Slot &CompileAhead::free_slot(int capability, const QueuedJob &job) {
  for (const auto &slot : slots_)
    if (!slot->done && slot->capability == capability && slot->worker->is_of_kind(job))
      return *slot;
  Slot *free = nullptr;
  for (const auto &slot : slots_)
    if (!slot->done && (!free || slot->capability == capability))
      free = slot.get();
  if (free && free->capability == capability)
    return *free;
  if (slots_.size() < settings_.processes)
    free = slots_.emplace_back(std::make_unique<Slot>()).get();
  else
    free->worker->stop(); // the process compiled for another architecture
  WorkerSettings worker;
  worker.name = "compile:" + std::to_string(capability);
  worker.command = settings_.command;
  worker.command.insert(worker.command.end(), {"--capability", std::to_string(capability)});
  worker.environment = settings_.environment;
  worker.shelves = settings_.shelves;
  worker.runs_files = false;
  free->capability = capability;
  free->worker = std::make_shared<DeviceWorker>(executor_, compiler_info(capability),
                                                std::move(worker), WorkerHooks{});
  return *free;
}

std::size_t compile_processes(std::size_t cores, std::size_t devices) {
  return std::clamp<std::size_t>(cores > devices ? cores - devices : 1, 1, kMostProcesses);
}

std::unique_ptr<CompileAhead> make_compile_ahead(boost::asio::any_io_executor executor,
                                                 std::size_t gpus,
                                                 std::shared_ptr<const CodeShelves> shelves) {
  const char *chosen = std::getenv("WARPWRIGHT_COMPILE_AHEAD");
  const std::size_t processes =
      chosen ? static_cast<std::size_t>(std::clamp(std::atoi(chosen), 0, 256))
             : compile_processes(std::thread::hardware_concurrency(), gpus);
  if (gpus == 0 || processes == 0 || !shelves || !shelves->store().keeps())
    return nullptr;
  return std::make_unique<CompileAhead>(
      executor, CompileAheadSettings{.command = {executable_path(), "compile-worker"},
                                     .environment = {},
                                     .processes = processes,
                                     .shelves = std::move(shelves)});
}

} // namespace warpwright::runner
