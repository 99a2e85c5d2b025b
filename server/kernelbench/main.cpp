// Program `warpwright-kernelbench`: the benchmark command of `warpwright optimize`, for builds without Clang.
#include "server/interrupt.h"
#include "server/kernelbench/bench_options.h"
#include "support/build/build_description.h"

#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
  using namespace warpwright;
  CLI::App app("Optimize the tasks of a benchmark in KernelBench's form", "warpwright-kernelbench");
  app.set_version_flag("--version", version_line("warpwright-kernelbench"));
  server::BenchCommand bench;
  server::add_bench_options(app, bench);
  CLI11_PARSE(app, argc, argv);
  bench.command = "warpwright optimize";
  for (int i = 1; i < argc; ++i)
    bench.command += std::string(" ") + argv[i];
  const server::Interrupt interrupt;
  return server::run_kernelbench(bench, interrupt.token());
}
