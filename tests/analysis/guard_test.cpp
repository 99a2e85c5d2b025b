// No text takes the program down: what crashes, loops, nests or grows without end costs its own facts.
#include "analysis/guard/guard.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <latch>
#include <thread>

namespace warpwright::analysis {
namespace {

using namespace std::chrono_literals;

constexpr Limits kShort{500ms, std::size_t{256} << 20};

/// Why work has no result; empty: it has one.
std::string failure_of(const Limits &limits, std::function<void()> work) {
  const Result<void> done = run_guarded(limits, std::move(work));
  return done ? "" : done.error().message;
}

std::string repeated(const std::string &text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

/// A text that the parser or analysis cannot get through, with a kernel that the token scan finds all the same.
FileFacts facts_of(const std::string &text, const Limits &limits = kShort) {
  return analyze_guarded({"/test/file.cu", "__global__ void first(float *x) { x[0] = 1; }\n" + text},
                         {}, {}, limits);
}

void check_scanned(const std::string &text, const std::string &reason,
                   const Limits &limits = kShort) {
  const FileFacts facts = facts_of(text, limits);
  const Diagnostic *why = why_not_analysed(facts);
  REQUIRE(why);
  CHECK_MESSAGE(why->message.contains(reason), why->message);
  CHECK(facts.pass == Pass::Scan);
  REQUIRE(!facts.kernels.empty());
  CHECK(facts.kernels[0].name == "first");
}

[[gnu::noinline]] int sink(volatile char *memory) { return memory[0]; }

// Not a tail call: the frame stays.
// NOLINTNEXTLINE(misc-no-recursion)
[[gnu::noinline]] int recur(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : recur(depth - 1) + sink(frame);
}

TEST_CASE("work in a guard gives its result, and guards nest") {
  const Result<int> result = guarded(kShort, []() -> Result<int> {
    return guarded(kShort, []() -> Result<int> { return 7; });
  });
  REQUIRE(result);
  CHECK(*result == 7);
}

TEST_CASE("a crash costs the work, not the program, and guards work after it") {
  CHECK(failure_of(kShort, [] { std::raise(SIGSEGV); }).contains("crashed (Segmentation fault)"));
  CHECK(failure_of(kShort, [] { std::abort(); }).contains("crashed (Aborted)"));
  CHECK(failure_of(kShort, [] { throw std::runtime_error("odd"); }).contains("odd"));
  CHECK(failure_of(kShort, [] {}).empty());
}

TEST_CASE("a stack that is full ends the work") {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return; // frames are many times larger, and the sanitizer ends the program first
#endif
#endif
  CHECK(failure_of(kShort, [] { recur(1 << 20); }).contains("crashed"));
  CHECK(failure_of(kShort, [] { recur(1 << 12); }).empty());
}

TEST_CASE("limits of time, depth and memory end work at its checkpoints") {
  CHECK(failure_of(kShort, [] {
          for (;;)
            checkpoint();
        }).contains("more than 500 ms"));
  constexpr Limits kDeep{std::chrono::seconds(20), std::size_t{256} << 20}; // a stack is slow to grow
  CHECK(failure_of(kDeep, [] {
          const std::function<void(int)> deeper = [&](int depth) {
            checkpoint();
            deeper(depth + 1);
          };
          deeper(0);
        }).contains("nested too deeply"));
}

/// Not known to the compiler, which would else allocate it itself.
std::unique_ptr<char[]> one_mebibyte() {
  static volatile std::size_t size = std::size_t{1} << 20;
  return std::make_unique<char[]>(size);
}

TEST_CASE("a limit of memory ends work that holds too much of it at one time") {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return; // the sanitizer's own allocator is not counted
#endif
#endif
  constexpr Limits kSmall{60s,
                          std::size_t{256} << 20}; // a slow machine takes a second for the pages
  CHECK(failure_of(kSmall, [] {
          std::vector<std::unique_ptr<char[]>> held;
          for (;;)
            held.push_back(one_mebibyte());
        }).contains("256 MiB"));
  CHECK(failure_of(kSmall, [] {
          for (int i = 0; i < 1024; ++i)
            one_mebibyte();
        }).empty());
}

TEST_CASE("work that reaches no checkpoint is left behind") {
  const auto go_on = std::make_shared<std::latch>(1), ended = std::make_shared<std::latch>(1);
  CHECK(failure_of({20ms, std::size_t{1} << 30}, [go_on, ended] {
          go_on->wait();
          ended->count_down();
        }).contains("does not end"));
  CHECK(failure_of(kShort, [] {}).empty()); // others have threads of their own
  go_on->count_down();
  ended->wait();
}

TEST_CASE("many threads use guards at the same time") {
  std::vector<std::jthread> threads;
  std::atomic<int> good = 0, bad = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&good, &bad, i] {
      for (int round = 0; round < 20; ++round)
        if ((round + i) % 4 == 0)
          bad += !failure_of(kShort, [] { std::raise(SIGSEGV); }).empty();
        else
          good += failure_of(kShort, [] {}).empty();
    });
  threads.clear();
  CHECK(good == 120);
  CHECK(bad == 40);
}

TEST_CASE("a file that is fine has all its facts, as without a guard") {
  const FileFacts facts = facts_of("void run(float *x) { first<<<1, 32>>>(x); }\n");
  CHECK(!why_not_analysed(facts));
  CHECK(facts.pass == Pass::Stub);
  REQUIRE(facts.kernels.size() == 1);
  CHECK(facts.kernels[0].launches.size() == 1);
}

TEST_CASE("the parser is ended where it would not end for long") {
  // Macros that double themselves.
  std::string macros = "#define A0 +1\n";
  for (int i = 1; i < 40; ++i)
    macros += "#define A" + std::to_string(i) + " A" + std::to_string(i - 1) + " A" +
              std::to_string(i - 1) + "\n";
  check_scanned(macros + "int big = A39;\n", "");
  // Instantiations that double.
  check_scanned("template <int N, long P> struct Tree { static constexpr int v = Tree<N - 1, P * 2>::v "
                "+ Tree<N - 1, P * 2 + 1>::v; };\n"
                "template <long P> struct Tree<0, P> { static constexpr int v = 1; };\n"
                "int count = Tree<40, 1>::v;\n",
                "");
  check_scanned("constexpr int spin(int n) { int s = 0; for (int i = 0; i < 1000; ++i) s += i % n; "
                "return s; }\n" +
                    repeated("static_assert(spin(7) > 0);\n", 20'000),
                "more than 500 ms");
}

TEST_CASE("nesting without end is refused before the stack is full") {
  check_scanned("int deep() { return " + repeated("!", 200'000) + "1; }\n", "nested too deeply",
                kCommandLimits);
  check_scanned("void deep(int n) { " + repeated("if (n) ", 200'000) + "n = 1; }\n",
                ""); // too deep or too long: what comes first depends on the machine
}

TEST_CASE("what is only long has its facts") {
  std::string table = "const int table[] = {";
  for (int i = 0; i < 20'000; ++i)
    table += std::to_string(i) + ",";
  CHECK(!why_not_analysed(facts_of(table + "};\n", kCommandLimits)));
  CHECK(!why_not_analysed(facts_of("int sum = 1" + repeated(" + 1", 5'000) + ";\n", kCommandLimits)));
  CHECK(!why_not_analysed(
      facts_of("int deep() { return " + repeated("(", 200) + "1" + repeated(")", 200) + "; }\n")));
}

} // namespace
} // namespace warpwright::analysis
