// Command-line options of a benchmark run.
#pragma once

#include "server/kernelbench/bench_command.h"

namespace CLI {
class App;
}

namespace warpwright::server {

/// @param bench outlives the parser
void add_bench_options(CLI::App &command, BenchCommand &bench);

} // namespace warpwright::server
