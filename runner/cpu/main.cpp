// warpwright-worker-cpu: a worker process with the CPU backend. The service starts and restarts the
// worker. The worker's supervisor starts the torch program at the first torch task. Without a
// Python interpreter, torch tasks report that torch is missing.
#include "runner/cpu/cpu_device.h"
#include "runner/worker/worker.h"
#include "support/build/build_description.h"

#include <iostream>

int main(int argc, char **argv) {
  using namespace warpwright::runner;
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::cout << warpwright::version_line("warpwright-worker-cpu") << std::endl;
    return 0;
  }
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  auto torch = ChildHost::make(program.parent_path() / "torch");
  auto entry = enter_worker([&] {
    return Supervisor(torch ? (*torch)->programs() : std::map<std::string, EnclosedProgram>())
        .enclose(Sandbox{WorkerKind::Cpu});
  });
  if (!entry) {
    std::cerr << warpwright::describe(entry.error()) << std::endl;
    return 2;
  }
  return run_worker(std::move(*entry),
                    [&] { return make_cpu_device(torch ? std::move(*torch) : nullptr); });
}
