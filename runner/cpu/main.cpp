// warpwright-worker-cpu: the CPU backend behind the worker's main loop. The service starts and
// restarts it. Torch is a child process, started while this one may still start programs; where there is
// no interpreter, torch tasks say so.
#include "runner/cpu/cpu_device.h"
#include "runner/worker/worker.h"

int main() {
  using namespace warpwright::runner;
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  auto torch = ChildHost::start(program.parent_path() / "torch");
  return run_worker([&] { return make_cpu_device(torch ? std::move(*torch) : nullptr); },
                    Sandbox{WorkerKind::Cpu, {}, {}});
}
