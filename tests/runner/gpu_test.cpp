// The CUDA device on a real GPU, in this process: verdicts, the device's checker against the
// host's, timing. Faults that take the CUDA context down are tested through the service, in
// gpu_service_test.cpp.
#include "runner/cuda/device.h"
#include "runner/measure/session.h"
#include "runner/judge/verifier.h"
#include "tests/runner/tasks.h"

#include <iostream>

namespace warpwright::runner {
namespace {

using namespace testing;
using model::Outcome;

/// Null without a GPU, which is said once, in the words that CTest knows as "skipped".
Device *gpu() {
  static const auto device = [] {
    auto made = cuda::make_cuda_device(0);
    if (!made)
      std::cout << "all cases skipped: " << describe(made.error()) << std::endl;
    return made ? std::move(*made) : nullptr;
  }();
  if (device)
    device->set_deadline(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  return device.get();
}

model::Verdict run(const Task &task, const Plan &plan, bool measure = false) {
  VerifySettings settings;
  settings.measure = measure;
  settings.measure_budget = std::chrono::milliseconds(500);
  const auto result = verify(*gpu(), task, plan, settings, [](const auto &...) {});
  INFO(model::to_json(result.verdict).dump(1));
  CHECK(result.verdict.date.size() == 20);
  return result.verdict;
}

void check_outcome(const model::Verdict &verdict, Outcome outcome, const std::string &part) {
  INFO(model::to_json(verdict).dump(1));
  CHECK(verdict.outcome == outcome);
  CHECK(verdict.message.find(part) != std::string::npos);
}

TEST_CASE("the same kernel is verified, and its speedup's interval holds 1") {
  if (!gpu())
    return;
  const Task task = saxpy_task(1 << 24);
  const model::Verdict verdict = run(task, task.reference, true);
  check_outcome(verdict, Outcome::Verified, "measured");
  REQUIRE(verdict.speedup);
  std::cout << "A/A saxpy 16M: " << verdict.speedup->ratio << " [" << verdict.speedup->low << ", "
            << verdict.speedup->high << "], " << verdict.candidate_time->median_ns / 1e3
            << " us, pairs " << verdict.speedup->samples << "\n";
  CHECK(verdict.speedup->low <= 1.005);
  CHECK(verdict.speedup->high >= 0.995);
  REQUIRE(verdict.errors.candidate_fp64);
  CHECK(*verdict.errors.candidate_fp64 < 1e-6);
  REQUIRE(!verdict.kernels.empty());
  CHECK(verdict.kernels[0].registers.value_or(0) > 0);
  CHECK(verdict.kernels[0].occupancy.value_or(0) > 0.5);
  CHECK(verdict.device.copy_bytes_per_s.value_or(0) > 1e11);
  CHECK(verdict.device.bracket_ns.value_or(0) > 0);
  if (verdict.device.compute_capability == "9.0") {
    CHECK(verdict.device.tf32_flops_per_s.value_or(0) > *verdict.device.fp32_flops_per_s);
    CHECK(verdict.device.bf16_flops_per_s.value_or(0) > *verdict.device.tf32_flops_per_s);
  }
  REQUIRE(verdict.as_called);
  CHECK(verdict.as_called->candidate_time.median_ns > *verdict.candidate_time->kernel_ns);
  REQUIRE(verdict.candidate_evidence);
  CHECK(verdict.candidate_evidence->bound == model::Bound::Memory);
  std::cout << "as called: " << verdict.as_called->speedup.ratio << " ["
            << verdict.as_called->speedup.low << ", " << verdict.as_called->speedup.high << "], "
            << verdict.as_called->candidate_time.median_ns / 1e3 << " us\n"
            << model::to_json(verdict)["evidence"].dump() << "\n"
            << (verdict.clocks ? model::to_json(verdict)["clocks"].dump() : "no clocks") << "\n"
            << model::to_json(verdict.device).dump() << "\n";
}

TEST_CASE("a tiny kernel is timed in single microseconds") {
  if (!gpu())
    return;
  const Task task = saxpy_task(1024);
  const model::Verdict verdict = run(task, task.reference, true);
  check_outcome(verdict, Outcome::Verified, "measured");
  std::cout << "A/A saxpy 1K: " << verdict.speedup->ratio << " [" << verdict.speedup->low << ", "
            << verdict.speedup->high << "], " << verdict.candidate_time->median_ns / 1e3
            << " us, pairs " << verdict.speedup->samples << "\n";
  CHECK(verdict.candidate_time->median_ns < 12'000);
}

TEST_CASE("a slower reference gives a speedup above 1") {
  if (!gpu())
    return;
  Task task = square_task(1 << 22);
  task.reference = square_candidate("  if (i < n) { float s = 0; for (int k = 0; k < 200; ++k) s "
                                    "+= __cosf(x[i] * k) * 1e-30f; y[i] = x[i] * x[i] + s; }");
  const model::Verdict verdict =
      run(task, square_candidate("  if (i < n) y[i] = x[i] * x[i];"), true);
  check_outcome(verdict, Outcome::Verified, "measured");
  CHECK(verdict.speedup->low > 1.2);
}

TEST_CASE("wrong, unwritten, stray, mutating and racing candidates are told apart") {
  if (!gpu())
    return;
  const Task task = square_task(1 << 20);
  check_outcome(
      run(task, square_candidate("  if (i < n) y[i] = x[i] * x[i] * (i == 12345 ? 1.01f : 1.0f);")),
      Outcome::WrongResult, "y[12345] is ");
  check_outcome(run(task, square_candidate("  if (i < n - 1) y[i] = x[i] * x[i];")),
                Outcome::WrongResult, "unwritten");
  check_outcome(run(task, square_candidate("  if (i <= n) y[i] = i < n ? x[i] * x[i] : 0.0f;")),
                Outcome::SuspectedCheat, "outside y");
  check_outcome(
      run(task,
          square_candidate(
              "  if (i < n) { y[i] = x[i] * x[i]; if (i == 3) const_cast<float *>(x)[i] = 0; }")),
      Outcome::SuspectedCheat, "changed 1 elements of the input x");
  check_outcome(run(task, square_candidate(
                              "  if (i < n) y[i] = x[i] * x[i] + (i == 5 ? 0.0f / 0.0f : 0.0f);")),
                Outcome::WrongResult, "nan");
  check_outcome(run(task, square_candidate("  if (i < n) y[i] = x[i] * y;")),
                Outcome::CompileFailed, "line");
}

TEST_CASE("a result that is kept across launches is caught while timed") {
  if (!gpu())
    return;
  const Task task = square_task(1 << 16);
  const Plan caching =
      square_candidate("  if (i >= n) return;\n"
                       "  if (n < 65536) { y[i] = x[i] * x[i]; return; }\n"
                       "  if (blockIdx.x == 0 && threadIdx.x == 0) atomicAdd(&launches, 1);\n"
                       "  if (launches > 40) { y[i] = cache[i]; return; }\n"
                       "  y[i] = cache[i] = x[i] * x[i];",
                       "__device__ float cache[65536]; __device__ int launches;");
  const model::Verdict verdict = run(task, caching, true);
  INFO(model::to_json(verdict).dump(1));
  CHECK((verdict.outcome == Outcome::SuspectedCheat || verdict.outcome == Outcome::WrongResult));
  CHECK(!verdict.speedup);
}

TEST_CASE(
    "results kept by pointer or by a first element are caught, and a module loaded twice is two") {
  if (!gpu())
    return;
  const Task task = square_task(1 << 16);
  // Both are right when the inputs are new as a whole, or at new addresses.
  for (const char *key : {"(unsigned long long)x", "__float_as_uint(x[0])"}) {
    const model::Verdict verdict = run(
        task,
        square_candidate("  if (i >= n) return;\n"
                         "  if (n < 65536) { y[i] = x[i] * x[i]; return; }\n"
                         "  const unsigned long long key = " +
                             std::string(key) +
                             ";\n"
                             "  for (int slot = 0; slot < 4; ++slot)\n"
                             "    if (keys[slot][i] == key) { y[i] = cache[slot][i]; return; }\n"
                             "  const int slot = next[i]++ % 4;\n"
                             "  keys[slot][i] = key;\n"
                             "  y[i] = cache[slot][i] = x[i] * x[i];",
                         "__device__ float cache[4][65536]; __device__ unsigned long long "
                         "keys[4][65536]; __device__ unsigned next[65536];"),
        true);
    INFO(model::to_json(verdict).dump(1));
    CHECK((verdict.outcome == Outcome::SuspectedCheat || verdict.outcome == Outcome::WrongResult));
    CHECK(!verdict.speedup);
    std::cout << "kept by " << key << ": " << verdict.checks.back().name << "\n";
  }

  const CompileRequest request{
      "__device__ int count; extern \"C\" __global__ void k(int *out) { *out = ++count; }",
      {},
      {"k"}};
  auto first = gpu()->compile(request), second = gpu()->compile(request);
  REQUIRE((first && second));
  auto memory = GuardedBuffer::make(*gpu(), 256, 0);
  REQUIRE(memory.has_value());
  for (const auto &[program, expected] :
       {std::pair{first->get(), 1}, {first->get(), 2}, {second->get(), 1}}) {
    REQUIRE(gpu()
                ->launch({.program = program,
                          .kernel_name = "k",
                          .arguments = {ArgumentValue::of(memory->address())}})
                .has_value());
    int got = 0;
    REQUIRE(gpu()->download(&got, memory->address(), sizeof got).has_value());
    CHECK(got == expected);
  }
}

/// Median of what the timer says of a kernel that spins for so long by the GPU's own clock, and of what the
/// kernel itself saw of it, ns; 0: a kernel that does nothing.
std::pair<double, double> time_spinning(std::uint64_t spin_ns, std::size_t launches = 1) {
  auto program = gpu()->compile({R"(
extern "C" __global__ void spin(unsigned long long ns, unsigned long long *seen) {
  if (ns == 0) return;
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - start < ns);
  *seen = now - start;
})",
                                 {},
                                 {"spin"}});
  REQUIRE(program.has_value());
  auto seen = GuardedBuffer::make(*gpu(), 256, 0);
  REQUIRE((seen && seen->poison_payload(0)));
  const std::vector<Operation> operations(
      launches, LaunchOperation{
                    .program = program->get(),
                    .kernel_name = "spin",
                    .arguments = {ArgumentValue::of(spin_ns), ArgumentValue::of(seen->address())}});
  auto recording = gpu()->record(operations);
  REQUIRE(recording.has_value());
  std::vector<double> outside, inside;
  for (int i = 0; i < 101; ++i) {
    auto sample = gpu()->time(**recording);
    REQUIRE(sample.has_value());
    std::uint64_t saw = 0;
    REQUIRE(gpu()->download(&saw, seen->address(), sizeof saw).has_value());
    outside.push_back(sample->ns);
    inside.push_back(static_cast<double>(saw));
  }
  return {median_of(outside), median_of(inside)};
}

TEST_CASE("the bracket's cost is the same for kernels of any length") {
  if (!gpu())
    return;
  const double bracket = gpu()->info().bracket_ns.value_or(0);
  std::cout << "bracket " << bracket << " ns, probe " << gpu()->info().probe_ns.value_or(0)
            << " ns\n";
  for (const std::size_t launches : {1, 2, 3})
    std::cout << launches << " kernels that do nothing: bracketed "
              << time_spinning(0, launches).first << " ns\n";
  for (const std::uint64_t ns : {0, 3'000, 10'000, 30'000, 100'000}) {
    const auto [outside, inside] = time_spinning(ns);
    std::cout << "spinning for " << ns << " ns: bracketed " << outside << ", less the bracket "
              << outside - bracket << ", seen by the kernel " << inside << "\n";
    CHECK(outside >= inside);
    CHECK(outside > bracket);
  }
}

TEST_CASE("a task that claims more work than its own reference does accuses nobody") {
  if (!gpu())
    return;
  Task task = square_task(1 << 26);
  task.work.bytes =
      expression("800 * n"); // claims a hundred times the bytes: the reference disproves it
  const model::Verdict verdict = run(task, task.reference, true);
  check_outcome(verdict, Outcome::Verified, "measured");
}

TEST_CASE("half precision inside is caught where the task is single") {
  if (!gpu())
    return;
  Task task = square_task(1 << 16);
  Plan exact = plan_of(R"(extern "C" __global__ void square(const double *x, double *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * x[i];
})",
                       "square", {"x", "y"});
  task.reference_fp64 = exact;
  const model::Verdict verdict =
      run(task, square_candidate("  if (i < n) { float h = __uint_as_float(__float_as_uint(x[i]) & "
                                 "0xffffe000u); y[i] = h * h; }"));
  check_outcome(verdict, Outcome::WrongResult, "error against fp64");
}

TEST_CASE("the device's checker judges as the host's does") {
  if (!gpu())
    return;
  auto host = make_host_checker(*gpu());
  auto device = make_device_checker(*gpu());
  REQUIRE(device.has_value());
  constexpr std::uint64_t kCount = 100'003;
  using Kind = model::Distribution::Kind;
  model::Buffer buffer;
  for (std::size_t i = 0; i < model::Distribution::kQuantiles; ++i)
    buffer.distribution.quantiles.push_back(static_cast<double>(i * i) / (32 * 32));
  const auto make_draw = [&](Dtype dtype, Kind kind, std::int64_t lower, std::int64_t upper,
                             std::uint64_t seed, float scale) {
    buffer.dtype = dtype;
    buffer.distribution.kind = kind;
    return kind < Kind::Quantiles
               ? runner::make_draw(dtype, kind, lower, upper, seed, scale)
               : runner::make_draw(buffer, lower, upper, kCount, seed);
  };
  for (Dtype dtype : {Dtype::Bool, Dtype::Int8, Dtype::UInt16, Dtype::Int32, Dtype::Int64,
                      Dtype::Float16, Dtype::BFloat16, Dtype::Float32, Dtype::Float64})
    for (Kind kind : {Kind::Normal, Kind::Uniform, Kind::Positive, Kind::Integers, Kind::Zeros,
                      Kind::Quantiles, Kind::Sorted, Kind::Permutation}) {
      CAPTURE(model::name(dtype));
      auto a = GuardedBuffer::make(*gpu(), kCount * 8, 0),
           b = GuardedBuffer::make(*gpu(), kCount * 8, 0);
      REQUIRE((a && b));
      const auto draw = make_draw(dtype, kind, -5, 17, 99, 64);
      REQUIRE(host->generate(draw, a->address(), kCount).has_value());
      REQUIRE((*device)->generate(draw, b->address(), kCount).has_value());
      CHECK((*device)->find_changed(draw, a->address(), kCount)->count == 0);
      CHECK(host->find_changed(draw, b->address(), kCount)->count == 0);
      CHECK(
          (*device)
              ->find_changed(make_draw(dtype, kind, -5, 17, 98, 64), a->address(), kCount)
              ->count ==
          host->find_changed(make_draw(dtype, kind, -5, 17, 98, 64), a->address(), kCount)->count);
      const auto here = host->survey(type_code(dtype), a->address(), kCount),
                 there = (*device)->survey(type_code(dtype), b->address(), kCount);
      CHECK(here->digest == there->digest);
      CHECK(here->unlike_first == there->unlike_first);
      CHECK(here->sum_of_squares == doctest::Approx(there->sum_of_squares));
      REQUIRE((*device)
                  ->generate(make_draw(dtype, kind, -5, 17, 97, 64), b->address(), kCount)
                  .has_value());
      element::Comparison comparison{
          .type = type_code(dtype), .compare_runs = 1, .poison = {0xFF, 0x7B}};
      comparison.candidate[0] = comparison.candidate[1] =
          reinterpret_cast<const void *>(a->address());
      comparison.reference[0] = comparison.reference[1] =
          reinterpret_cast<const void *>(b->address());
      comparison.absolute = comparison.relative = 1e-3;
      comparison.scale = 1;
      comparison.allowed = -1;
      const auto mine = host->compare(comparison, kCount),
                 theirs = (*device)->compare(comparison, kCount);
      CHECK(mine->wrong == theirs->wrong);
      CHECK(mine->first_wrong == theirs->first_wrong);
      CHECK(mine->max_absolute == theirs->max_absolute);
      CHECK(mine->max_relative == doctest::Approx(theirs->max_relative));
    }
}

TEST_CASE("rows scaled in bands, and inputs moved by a rounding, are the same on the host and on "
          "the GPU") {
  if (!gpu())
    return;
  auto host = make_host_checker(*gpu());
  auto device = make_device_checker(*gpu());
  REQUIRE(device.has_value());
  constexpr std::uint64_t kRow = 37, kRows = 2703, kCount = kRow * kRows;
  for (Dtype dtype : {Dtype::Float16, Dtype::BFloat16, Dtype::Float32, Dtype::Float64}) {
    CAPTURE(model::name(dtype));
    auto a = GuardedBuffer::make(*gpu(), kCount * 8, 0),
         b = GuardedBuffer::make(*gpu(), kCount * 8, 0);
    REQUIRE((a && b));
    auto draw = make_draw(dtype, model::Distribution::Kind::Normal, 0, 1, 99, 1);
    draw.bands = {
        .rows = kRows, .row_size = kRow, .low = -8, .high = dtype == Dtype::Float16 ? 4 : 30};
    REQUIRE(host->generate(draw, a->address(), kCount).has_value());
    REQUIRE((*device)->generate(draw, b->address(), kCount).has_value());
    CHECK((*device)->find_changed(draw, a->address(), kCount)->count == 0);
    const auto same = [&] {
      return host->survey(type_code(dtype), a->address(), kCount)->digest ==
             host->survey(type_code(dtype), b->address(), kCount)->digest;
    };
    for (const auto what :
         {element::Change::Round, element::Change::ScaleBands, element::Change::Set}) {
      const element::Change change{.type = type_code(dtype),
                                   .what = what,
                                   .bands = {.rows = kRows, .row_size = kRow, .low = -3, .high = 3},
                                   .unit = unit_in_last_place(dtype),
                                   .seed = 5,
                                   .bits = 0x3c00};
      REQUIRE(host->change(change, a->address(), kCount).has_value());
      REQUIRE((*device)->change(change, b->address(), kCount).has_value());
      CHECK(same());
    }
  }
}

TEST_CASE("thousands of guards and copies are checked at once, and what is wrong is found") {
  if (!gpu())
    return;
  const auto host = make_host_checker(*gpu());
  auto device = make_device_checker(*gpu());
  REQUIRE(device.has_value());
  constexpr std::uint64_t kElements = (1 << 20) + 77;
  auto from = GuardedBuffer::make(*gpu(), kElements * 4, 0),
       to = GuardedBuffer::make(*gpu(), kElements * 4, 0);
  REQUIRE((from && to));
  const auto draw = make_draw(Dtype::Float32, model::Distribution::Kind::Normal, 0, 0, 5, 1);
  REQUIRE((*device)->generate(draw, from->address(), kElements).has_value());
  REQUIRE(gpu()->copy(to->address(), from->address(), kElements * 4).has_value());
  REQUIRE(to->poison_guards(0x7B).has_value());
  REQUIRE(gpu()->fill({to->address() - 3, 0, 1}).has_value());
  std::vector<element::Guard> guards(5000, to->guards()[1]);
  guards[4321] = to->guards()[0];
  const auto marks = (*device)->check_guards(guards, 0x7B);
  REQUIRE(marks.has_value());
  for (std::size_t i = 0; i < guards.size(); ++i)
    REQUIRE((*marks)[i].count == (i == 4321));
  CHECK(to->damage_text(0, (*marks)[4321]) == "3 bytes before its start");
  std::vector<element::RotatedCopy> copies;
  for (std::uint64_t i = 0; i < 6000;
       ++i) // parts of the buffers, and all of them, turned by none and by something
    copies.push_back({to->address() + 4 * i, from->address() + 4 * i, i % 5 ? 100 : kElements - i,
                      4, i % 7 == 3 ? 1u : 0u, 0, 0, 0});
  const auto mine = (*device)->check_copies(copies);
  REQUIRE(mine.has_value());
  const auto theirs = host->check_copies(std::span(copies).first(50));
  REQUIRE(theirs.has_value());
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (i < theirs->size())
      REQUIRE((*mine)[i].count == (*theirs)[i].count);
    REQUIRE(((*mine)[i].count == 0) == (copies[i].offset == 0));
  }
}

TEST_CASE("verification of 64M elements is quick") {
  if (!gpu())
    return;
  const Task task = saxpy_task(1 << 26);
  const auto start = std::chrono::steady_clock::now();
  check_outcome(run(task, task.reference), Outcome::Verified, "correct");
  const auto ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::cout << "verify saxpy 64M, all drawings: " << ms << " ms\n";
  CHECK(ms < 5000);
}

} // namespace
} // namespace warpwright::runner
