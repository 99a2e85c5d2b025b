// warpwright-worker-cpu: the CPU backend behind the worker's main loop. The service starts and
// restarts it.
#include "runner/cpu/cpu_device.h"
#include "runner/worker/worker.h"

int main() {
  return warpwright::runner::run_worker([] { return warpwright::runner::make_cpu_device(); });
}
