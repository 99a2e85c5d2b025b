// Program `warpwright-search`: finds plans for regions queued by the Python package; reports progress as JSON lines on
// stdout. With --background it leaves the terminal, waits for an idle GPU and writes to search.log next to search.lock.
#include "runner/connect/choose_device.h"
#include "server/interrupt.h"
#include "server/regions/background.h"
#include "server/regions/region_search.h"
#include "support/build/build_description.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <mutex>
#include <unistd.h>

namespace {

using namespace warpwright;
using nlohmann::json;

/// Plans to try for each region. One more costs a GPU less than a second, where a region costs many.
constexpr int kGpuVariants = 12, kCpuVariants = 6;
/// Regions that are searched at once on a GPU. A search compiles for most of its time, and needs the GPU alone for some
/// seconds.
constexpr int kRegionsAtOnce = 4;

struct Command {
  std::string store, runner = "local:?workers=" + std::to_string(kRegionsAtOnce), device;
  int budget_seconds = 600;
  std::optional<int> max_variants;
  double measure_seconds = 0.1,
         final_seconds = 0.4; // a region that seems faster is measured again in the whole graph
  bool in_background = false;
  std::string idle_gpu;
  pid_t parent = 0;
  server::RegionSearchOptions search;
};

void say(const json &line) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  std::cout << line.dump() << std::endl; // flushed, since a reader waits for it
}

int report(const Result<void> &done) {
  if (!done)
    say({{"event", "error"}, {"message", describe(done.error())}});
  else
    say({{"event", "end"}});
  return done ? 0 : 1;
}

Result<void> run(Command &command, std::stop_token stop) {
  auto client = runner::BlockingClient::connect(command.runner);
  if (!client)
    return std::unexpected(client.error());
  const auto info = (*client)->info();
  if (!info)
    return std::unexpected(info.error());
  const auto device = runner::choose_device(*info, command.device);
  if (!device)
    return std::unexpected(device.error());
  command.search.budget = std::chrono::seconds(command.budget_seconds);
  command.search.verify.device = command.device;
  command.search.verify.timeout = std::chrono::minutes(4); // includes torch.compile of a region
  const int usual = device->kind == "cuda" ? kGpuVariants : kCpuVariants;
  command.search.limits.search.max_variants =
      static_cast<std::size_t>(command.max_variants.value_or(usual));
  command.search.limits.measure_budget = std::chrono::milliseconds(static_cast<int>(command.measure_seconds * 1000));
  command.search.limits.final_measure_budget =
      std::chrono::milliseconds(static_cast<int>(command.final_seconds * 1000));
  command.search.limits.thorough_search = false;
  command.search.at_once = device->kind == "cuda" ? kRegionsAtOnce : 1;
  say({{"event", "start"}, {"device", device->name}});
  return server::search_regions(
      regions::Store::at(command.store), **client, *device, command.search,
      {[](const std::string &key, const std::string &stage) { say({{"event", "stage"}, {"key", key}, {"stage", stage}}); },
       [](const server::RegionResult &result, std::size_t done, std::size_t all) {
         say({{"event", "region"},
              {"key", result.key},
              {"outcome", result.outcome},
              {"reason", result.reason},
              {"ratio", result.ratio ? json(*result.ratio) : json()},
              {"done", done},
              {"all", all}});
       }},
      stop);
}

/// Leaves the terminal and searches what waits, unless a process does so for this folder.
int run_in_background(Command &command) {
  const regions::Store store = regions::Store::at(command.store);
  auto lock = server::lock_of(store.folder());
  if (!lock)
    return report(std::unexpected(lock.error()));
  say({{"event", *lock ? "background" : "busy"}});
  if (!*lock)
    return 0;
  if (const auto detached = server::detach(store.folder() / "search.log"); !detached)
    return report(detached);
  say({{"event", "background"}, {"pid", ::getpid()}}); // the log's first line: whom to stop
  server::Interrupt interrupt{SIGINT, SIGTERM};
  const std::jthread watch = server::watch(command.parent, [&interrupt] { interrupt.request(); }, interrupt.token());
  command.budget_seconds = std::numeric_limits<int>::max();
  const auto search = [&](const std::string &key) {
    server::shorten_log(STDOUT_FILENO);
    command.search.keys = {key};
    if (const auto done = run(command, interrupt.token()); !done)
      say({{"event", "failed"}, {"key", key}, {"message", describe(done.error())}}); // others may succeed
  };
  return report(server::search_waiting(store, command.idle_gpu, std::move(**lock), search, interrupt.token()));
}

} // namespace

int main(int argc, char **argv) {
  Command command;
  CLI::App app("Search plans for the regions of PyTorch models that are queued in a store", "warpwright-search");
  app.set_version_flag("--version", version_line("warpwright-search"));
  app.add_option("--store", command.store, "The folder of one environment in the store")->required()->check(CLI::ExistingDirectory);
  app.add_option("--runner", command.runner, "Runner to use; default: start one");
  app.add_option("--device", command.device, "Device of the runner: cuda:0, cpu; default: its best");
  app.add_option("--keys", command.search.keys, "Only these jobs")->delimiter(',');
  app.add_option("--budget-seconds", command.budget_seconds,
                 "Regions do not start after this time");
  app.add_option("--max-variants", command.max_variants,
                 "Plans to try for each region; default: 12 on a GPU, 6 on the CPU")
      ->check(CLI::Range(1, 64));
  app.add_option("--measure-seconds", command.measure_seconds, "Time to measure each plan of a search");
  auto *background = app.add_flag("--background", command.in_background,
                                  "Search what waits, and what is queued meanwhile, out of the terminal, at the lowest priority; at most one "
                                  "process for a folder");
  app.add_option("--idle-gpu", command.idle_gpu, "UUID of the GPU that must be idle for 2 s before each region")->needs(background);
  app.add_option("--parent", command.parent, "End with this process")->needs(background);
  CLI11_PARSE(app, argc, argv);
  if (command.in_background)
    return run_in_background(command);
  const server::Interrupt interrupt;
  return report(run(command, interrupt.token()));
}
