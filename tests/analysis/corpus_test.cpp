// Public programs, whole and damaged: each keeps its facts within the limits of the editor's guard, so none crashes,
// hangs or fills the memory.
//
// The programs are fetched by whoever runs this, never committed: WARPWRIGHT_CORPUS names their folders, joined by ":".
// Every .cu and .cuh file is opened as it is, cut off at ten places (as while it is typed, or copied in part), and with
// ten lines deleted. Takes about a quarter of an hour for HeCBench, cuda-samples and llm.c. Reduced failures are in
// nasty_inputs_test.cpp.
#include "analysis/guard/guard.h"
#include "tests/analysis/corpus_files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sys/resource.h>

namespace warpwright::analysis {
namespace {

namespace fs = std::filesystem;
using tests::corpus_files;

constexpr Limits kAllowed{std::chrono::seconds(5), std::size_t{1} << 30};
constexpr std::size_t kPlaces = 10;

/// Without `kPlaces` lines, spread by a fixed sequence that starts from the text.
std::string with_lines_deleted(const std::string &text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  std::uint64_t state = text.size();
  for (std::size_t i = 0; i < kPlaces && !lines.empty(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>((state >> 33) % lines.size()));
  }
  std::string result;
  for (const std::string &line : lines)
    result += line;
  return result;
}

struct Slowest {
  std::chrono::milliseconds time{0};
  std::string what;
};

void check_held(const fs::path &path, const std::string &text, const std::string &what,
                Slowest &slowest) {
  const auto start = std::chrono::steady_clock::now();
  const FileFacts facts = analyze_guarded({path.string(), text}, {}, {}, kAllowed);
  const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  if (time > slowest.time)
    slowest = {time, path.string() + " " + what};
  const Diagnostic *why = why_not_analysed(facts);
  CHECK_MESSAGE(!why, path.string() << " " << what << ": " << why->message);
}

TEST_CASE("public programs are held, whole, cut off and with lines deleted") {
  const std::vector<fs::path> files = corpus_files();
  if (files.empty()) {
    std::puts("all cases skipped: WARPWRIGHT_CORPUS names no folder with CUDA sources");
    return;
  }
  Slowest slowest;
  for (const fs::path &path : files) {
    const std::string text = tests::text_of(path);
    check_held(path, text, "as it is", slowest);
    for (std::size_t i = 1; i <= kPlaces; ++i) {
      const std::size_t length = text.size() * i / (kPlaces + 1);
      check_held(path, text.substr(0, length), "cut off at byte " + std::to_string(length), slowest);
    }
    check_held(path, with_lines_deleted(text), "with ten lines deleted", slowest);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%zu files, %zu texts; slowest %lld ms: %s; %ld MiB at most\n", files.size(),
              files.size() * (kPlaces + 2), static_cast<long long>(slowest.time.count()),
              slowest.what.c_str(), usage.ru_maxrss >> 10);
  CHECK(usage.ru_maxrss < (1L << 20)); // KiB
}

} // namespace
} // namespace warpwright::analysis
