// warpwright-worker-cpu: the CPU backend behind the worker's main loop. The service starts and
// restarts it.
#include "runner/cpu/cpu_device.h"
#include "runner/worker/worker.h"

int main() {
  using namespace warpwright::runner;
  return run_worker([] { return make_cpu_device(); }, Sandbox{WorkerKind::Cpu, {}, {}});
}
