// Candidates that wait for a GPU are compiled meanwhile, by real processes with the real NVRTC.
#include "runner/cuda/compiler.h"
#include "tests/runner/scheduler_fixture.h"

#include <filesystem>

namespace warpwright::runner {
namespace {

using namespace testing;
namespace fs = std::filesystem;

TEST_CASE("there is a compile process for each core that no device needs, within limits") {
  CHECK(compile_processes(16, 1) == 15);
  CHECK(compile_processes(128, 8) == 16);
  CHECK(compile_processes(2, 4) == 1);
}

struct Cache {
  fs::path path;
  Cache() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Cache() { fs::remove_all(path); }
  std::size_t entries() const {
    std::size_t count = 0;
    for (const auto &entry : fs::directory_iterator(path))
      count += entry.path().filename() != "secret" && entry.path().extension().empty();
    return count;
  }
};

bool has_nvrtc() {
  if (const auto compiler = cuda::Compiler::make({.compute_capability = 90}); !compiler) {
    MESSAGE("skipped: " << describe(compiler.error()));
    return false;
  }
  return true;
}

/// A bench with a GPU's name and real compile processes.
struct CompilingBench : Bench {
  explicit CompilingBench(const Cache &cache,
                          const std::vector<std::string> &command = {kRunner, "compile-worker"})
      : Bench({device("cuda:0", "NVIDIA H200")}, [&](boost::asio::any_io_executor executor) {
          return std::make_unique<CompileAhead>(
              executor,
              CompileAheadSettings{.command = command,
                                   .environment = {},
                                   .processes = 2,
                                   .shelves = std::make_shared<const CodeShelves>(
                                       SealedStore(cache.path))});
        }) {}
  std::int64_t add_source(const std::string &body) {
    return *add(square_task(4096), square_candidate(body), "cuda", "a", {});
  }
};

TEST_CASE("queued candidates are compiled into the cache before the GPU takes them") {
  if (!has_nvrtc())
    return;
  const Cache cache;
  CompilingBench bench(cache);
  const auto id = bench.add_source("  if (i < n) y[i] = x[i] * x[i] * 1;");
  bench.run_all();
  CHECK(bench.verdicts.at(id).outcome == Outcome::Verified); // by the fake, which reads no source
  CHECK(cache.entries() == 2);                               // the candidate's and the reference's
  CHECK(bench.told.ahead == std::map<CompiledAhead, int>{{CompiledAhead::Hit, 1}});
  // While the device is busy, all that wait are compiled.
  bool hangs = false;
  const auto hanging =
      bench.add(square_task(4096),
                plan_of("extern \"C\" __global__ void hang(const float *, float *, int) {}", "hang",
                        {"x", "y"}),
                "cuda", "a", [&](const std::string &activity) {
                  hangs |= activity.starts_with("running the candidate");
                });
  bench.run_until([&] { return hangs; });
  for (int i = 0; i < 4; ++i)
    bench.add_source("  if (i < n) y[i] = x[i] * x[i] + " + std::to_string(i) + ";");
  bench.run_until([&] { return cache.entries() == 7; });
  CHECK(bench.scheduler.waiting() == 4);
  bench.scheduler.cancel(*hanging);
  bench.run_all();
  CHECK(bench.told.ahead == std::map<CompiledAhead, int>{{CompiledAhead::Hit, 6}});
}

TEST_CASE("a candidate that does not compile is refused before the GPU sees it, in the compiler's "
          "words") {
  if (!has_nvrtc())
    return;
  const Cache cache;
  CompilingBench bench(cache);
  bench.add_source("  if (i < n) y[i] = x[i] * x[i];");
  bench.run_all();
  const auto id = bench.add_source("  if (i < n) y[i] = nothing;");
  bench.run_all();
  const model::Verdict &verdict = bench.verdicts.at(id);
  CHECK(verdict.outcome == Outcome::CompileFailed);
  CHECK(verdict.message.find("identifier \"nothing\" is undefined") != std::string::npos);
  CHECK(verdict.device.name == "Fake"); // as the device's worker describes it
  CHECK(verdict.task_hash.size() == 64);
  REQUIRE(!verdict.kernels.empty());
  CHECK(verdict.kernels[0].log.find("nothing") != std::string::npos);
  CHECK(bench.told.ahead[CompiledAhead::Refused] == 1);
  CHECK(bench.told.starts["cuda:0"] == 1);
}

TEST_CASE("a compile process that is lost costs the prefetch and nothing else") {
  const Cache cache;
  CompilingBench bench(cache, {"/bin/false"});
  const auto id = bench.add_source("  if (i < n) y[i] = x[i] * x[i];");
  bench.run_all();
  CHECK(bench.verdicts.at(id).outcome == Outcome::Verified);
  CHECK(bench.told.ahead ==
        std::map<CompiledAhead, int>{{CompiledAhead::Lost, 1}, {CompiledAhead::Miss, 1}});
}

} // namespace
} // namespace warpwright::runner
